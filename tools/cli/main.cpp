// The crisol command.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "cli/apart.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "crisol/device.h"
#include "crisol/trace.h"
#include "crisol/version.h"

int main(int argc, char** argv) {
  using namespace crisol;
  cli::prepare_terminal();
  CLI::App app("crisol: vendor-neutral deep learning over OpenCL");
  app.allow_windows_style_options(false);  // A path may begin with "/".
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("crisol ") + version());
  std::string device;
  app.add_option("--device", device,
                 "gpu, cpu or accelerator, platform:device, or a part of a name, each with an optional :n; wins over "
                 "CRISOL_DEVICE");
  app.add_option("--trace", cli::trace_file(),
                 "Write a timeline of the command here, for ui.perfetto.dev or chrome://tracing");
  app.footer("Exit status: 0 done, 1 failed, 2 wrong arguments.");
  const cli::Command commands[] = {cli::add_devices(app), cli::add_info(app),    cli::add_selftest(app),
                                   cli::add_cache(app),   cli::add_bench(app),   cli::add_kernels(app),
                                   cli::add_doctor(app),  cli::add_tune(app),    cli::add_report(app),
                                   cli::add_onnx(app),    cli::add_complete(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version.
    if (argc == 1) {
      std::cerr << app.help();
      return 2;
    }
    const std::string unknown = cli::unknown_word(app, {argv + 1, argv + argc});
    std::cerr << "crisol: " << (unknown.empty() ? error.what() : unknown) << "\n--help lists what there is.\n";
    return 2;
  }
  try {
    if (!cli::trace_file().empty()) trace::start(cli::trace_file());
    for (const cli::Command& command : commands) {
      if (!command.parser->parsed()) continue;
      if (!device.empty() && !command.takes_device) set_default_device(Device(device));
      const int status = command.run();
      if (std::cout.flush()) return status;
      std::cerr << "crisol: standard output cannot be written\n";
    }
  } catch (const std::exception& error) {
    std::cerr << "crisol: " << error.what() << '\n';
  }
  return 1;
}
