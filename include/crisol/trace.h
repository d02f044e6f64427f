// A timeline of a program's work, in a file that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) open.
//
//     {
//       const trace::File file("step.json");
//       const trace::Scope scope("one training step");
//       train_step();
//     }  // The file is complete here.
//
// The environment variable CRISOL_TRACE=step.json writes the timeline of the whole process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol::trace {

/// Starts a timeline of this process, all threads and all devices, and replaces the file `path`. "%p" in the path
/// becomes the number of the process. Waits for the queued work of the devices that are in use. No other thread may
/// queue work during the call. Throws io if the file cannot be written, and invalid_argument if a timeline is being
/// written already.
CRISOL_API void start(const std::string& path);

/// Waits for the queued work and completes the file. Does nothing without a timeline. No other thread may queue work
/// during the call. The process calls it at its end, even after exit() or an exception that nobody catches.
CRISOL_API void stop();

/// Whether a timeline is being written now.
CRISOL_API bool active() noexcept;

/// Writes a timeline from construction to destruction. It calls start and stop.
class CRISOL_API File {
 public:
  explicit File(const std::string& path) { start(path); }
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

/// Marks a part of the program in the timeline, from construction to destruction, with a name on the row of this
/// thread. Without a timeline it costs one memory read.
class CRISOL_API Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::int64_t start_ = 0;
  std::string name_;
};

}  // namespace crisol::trace
