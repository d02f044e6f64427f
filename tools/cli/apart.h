// Running work in a separate process, because drivers may crash or hang.
#pragma once

#include <functional>
#include <string>

namespace crisol::cli {

/// Sends a line to the process that waits for the work.
using Send = std::function<void(const std::string& line)>;

/// The way in which the work ended.
struct Ending {
  bool finished = false;  ///< The work returned. Its process may still have crashed at exit.
  std::string fault;      ///< The text of the exception, or the reason why the process ended. Empty if all went well.
};

/// Runs `work` in a separate process and passes each line that it sends to `receive`. A process that neither sends nor
/// ends for 15 minutes counts as hanging. If the system cannot fork (Windows), the work runs in this process. Do not
/// look for devices in this process before the call, because a driver does not survive a fork.
Ending run_apart(const std::function<void(const Send&)>& work, const std::function<void(const std::string&)>& receive);

/// The file of --trace; empty without one. The work of run_apart writes a file of its own: for trace.json it is
/// trace-1.json, trace-2.json, …
std::string& trace_file();

}  // namespace crisol::cli
