// The commands of the program, each in a file of its own.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace crisol::cli {

/// A subcommand, and what runs it once it was asked for: returns the exit status.
struct Command {
  CLI::App* parser;
  std::function<int()> run;
  bool takes_device = false;  ///< It looks for the device of --device itself: it works where there is none.
};

Command add_bench(CLI::App& program);
Command add_cache(CLI::App& program);
Command add_complete(CLI::App& program);
Command add_devices(CLI::App& program);
Command add_doctor(CLI::App& program);
Command add_info(CLI::App& program);
Command add_kernels(CLI::App& program);
Command add_report(CLI::App& program);
Command add_selftest(CLI::App& program);
Command add_tune(CLI::App& program);

}  // namespace crisol::cli
