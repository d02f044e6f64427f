// The crisol command.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "cli/bench/bench.h"
#include "cli/devices.h"
#include "crisol/device.h"
#include "crisol/error.h"

int main(int argc, char** argv) {
  CLI::App app("crisol: vendor-neutral deep learning over OpenCL");
  app.require_subcommand(1);
  std::string device;
  app.add_option("--device", device,
                 "gpu, cpu or accelerator, platform:device, or a part of a name, each with an optional :n; wins over "
                 "CRISOL_DEVICE");

  bool json = false;
  CLI::App* devices =
      app.add_subcommand("devices", "List the OpenCL devices, mark the default and say why it is the default");
  devices->add_flag("--json", json, "Print JSON");
  devices->fallthrough();
  const std::function<int()> run_bench = crisol::cli::add_bench(app);

  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) crisol::set_default_device(crisol::Device(device));
    return devices->parsed() ? crisol::cli::list_devices(json) : run_bench();
  } catch (const crisol::Error& error) {
    std::cerr << "crisol: " << error.what() << '\n';
    return 1;
  }
}
