// The commands of the program. Each command has its own file.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace crisol::cli {

/// A subcommand and the function that runs it. The function returns the exit status.
struct Command {
  CLI::App* parser;
  std::function<int()> run;
  bool takes_device = false;  ///< The command reads --device itself, so that it also works without a device.
};

Command add_bench(CLI::App& program);
Command add_cache(CLI::App& program);
Command add_complete(CLI::App& program);
Command add_devices(CLI::App& program);
Command add_doctor(CLI::App& program);
Command add_info(CLI::App& program);
Command add_kernels(CLI::App& program);
Command add_onnx(CLI::App& program);
Command add_report(CLI::App& program);
Command add_selftest(CLI::App& program);
Command add_tune(CLI::App& program);

}  // namespace crisol::cli
