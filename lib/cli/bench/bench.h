// `crisol bench`
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace crisol::cli {

/// Adds the command to the program; what it gives runs the command that was asked for and returns the exit status.
std::function<int()> add_bench(CLI::App& program);

}  // namespace crisol::cli
