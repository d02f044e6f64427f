// `crisol info`
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/terminal.h"
#include "crisol/device.h"
#include "crisol/ops/matmul.h"

namespace crisol::cli {

namespace {

struct InfoOptions {
  std::string device;
  bool json = false;
};

void print_fact(const std::string& name, const std::string& value) {
  std::cout << "  " << name << std::string(name.size() < 24 ? 24 - name.size() : 1, ' ') << value << '\n';
}

// Prints the matrix units that a probe finds for each precision, or the reason why it finds none.
void print_matrix_units(Device device) {
  for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16}) {
    const ops::MatrixUnits units = ops::matrix_units(device, precision);
    print_fact(std::string("products in ") + name_of(precision),
               units.unit.empty() ? "computed in fp32: " + units.reason : "by " + units.unit);
  }
}

int print_info(const InfoOptions& options) {
  const Device device = options.device.empty() ? Device() : Device(options.device);
  const std::string text = to_json(device.info());
  if (options.json) {
    std::cout << text << '\n';
    return 0;
  }
  std::cout << bold(device.name()) << '\n';
  const auto facts = nlohmann::ordered_json::parse(text);
  for (const auto& [name, value] : facts.items())
    print_fact(name, value.is_string() ? value.get<std::string>() : value.dump());
  print_matrix_units(device);
  return 0;
}

}  // namespace

Command add_info(CLI::App& program) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App* command = program.add_subcommand("info", "Show every fact by which kernels are chosen for a device");
  command->add_option("DEVICE", options->device, "As CRISOL_DEVICE takes it; otherwise the default device");
  command->add_flag("--json", options->json, "Print JSON, as crisol::read_device_info reads it");
  command->fallthrough();
  return {command, [options] { return print_info(*options); }};
}

}  // namespace crisol::cli
