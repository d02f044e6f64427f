// The interface of graphs (crisol/capture.h) for the rest of the library. It wraps capturer.h without OpenCL types.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "base/thread_context.h"

namespace crisol::runtime {

class Block;
class DeviceState;

/// When captured commands run for the first time.
enum class FirstRun {
  at_once,    ///< While they are captured.
  in_replay,  ///< In the first replay. The capture then knows how long each block is needed, and blocks share memory.
};

/// Captures the work that this thread queues on the device until end_capture. Throws if this thread already captures.
std::shared_ptr<Capturer> begin_capture(DeviceState& device, FirstRun first_run);
void end_capture(Capturer& capturer) noexcept;
/// Gives memory to the blocks of a capture with FirstRun::in_replay. The capture must have ended, and no replay may
/// have run.
void place_memory(Capturer& capturer);
/// Lets the driver keep the commands (cl_khr_command_buffer). Returns null, or the reason why the driver cannot keep
/// them.
const char* keep_in_command_buffer(Capturer& capturer);
bool in_command_buffer(const Capturer& capturer) noexcept;
/// Operands whose memory may be another one in each replay: see Capturer.
bool made_for(const Capturer& capturer, const Block& block) noexcept;
bool uses(const Capturer& capturer, const Block& block);
std::optional<std::size_t> add_parameter(Capturer& capturer, const Block& block);
void set_parameter(Capturer& capturer, std::size_t number, const Block& block);
void let_go(Capturer& capturer, const Block& block);
std::size_t commands_of(const Capturer& capturer) noexcept;
/// How many commands of a capture with FirstRun::in_replay run code that has not run before.
std::size_t new_code_in(const Capturer& capturer) noexcept;
/// Queues the commands again.
void replay(Capturer& capturer);

/// Each replay calls the function after the commands that have been captured so far: see call_in_replays.
void add_call(Capturer& capturer, std::function<void(std::exception_ptr error)> function);

/// The capturer of this thread's work, or null.
Capturer* current_capturer() noexcept;
/// The capturer of this thread's work on this device, or null. Throws if the thread captures another device, because a
/// replay would leave this work out.
Capturer* capturer_of(const DeviceState& device);
/// While it lives, this thread's work runs but is not captured, and runs in a DryRun too. The library uses it for work
/// on memory that the captured work does not use. With `pauses` false the object does nothing.
class PauseCapture {
 public:
  explicit PauseCapture(bool pauses = true) noexcept;
  ~PauseCapture();
  PauseCapture(const PauseCapture&) = delete;
  PauseCapture& operator=(const PauseCapture&) = delete;

 private:
  const bool pauses_;
  const Submission before_;
};
/// True if this thread has a PauseCapture. Profiles also skip such work.
bool capture_is_paused() noexcept;
/// Throws if this thread captures. `what` describes an action that a replay cannot repeat.
void check_not_capturing(const char* what);

}  // namespace crisol::runtime
