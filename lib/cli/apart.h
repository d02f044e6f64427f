// Work in a process of its own, for drivers that crash or hang.
#pragma once

#include <functional>
#include <string>

namespace crisol::cli {

/// Sends a line to the process that waits for the work.
using Send = std::function<void(const std::string& line)>;

/// How the work ended.
struct Ending {
  bool finished = false;  ///< The work returned. Its process may still have crashed at its exit.
  std::string fault;      ///< What it threw, or what ended its process. Empty where all is well.
};

/// Runs `work` in a process of its own and hands each line that it sends to `receive`. A process that neither sends nor
/// ends for 15 minutes counts as hanging. Where the system cannot fork (Windows), the work runs in this process.
/// Nobody may have asked for devices in this process before, because a driver does not survive a fork.
Ending run_apart(const std::function<void(const Send&)>& work, const std::function<void(const std::string&)>& receive);

}  // namespace crisol::cli
