// The interface of recordings (crisol/recording.h) for the rest of the library: recorder.h without OpenCL.
#pragma once

#include <cstddef>
#include <memory>

namespace crisol::runtime {

class DeviceState;
class Recorder;

/// Records the work that this thread queues on the device until end_recording. Throws if this thread already records.
std::shared_ptr<Recorder> begin_recording(DeviceState& device);
void end_recording(Recorder& recorder) noexcept;
/// Lets the driver keep the commands (cl_khr_command_buffer). Returns null, or the reason why the driver cannot keep
/// them.
const char* keep_in_command_buffer(Recorder& recorder);
bool in_command_buffer(const Recorder& recorder) noexcept;
std::size_t commands_of(const Recorder& recorder) noexcept;
/// Queues the commands once more.
void replay(Recorder& recorder);

/// The recorder of this thread's work, or null.
Recorder* current_recorder() noexcept;
/// The same if it records this device. Throws for work on another device, because a replay would leave this work out.
Recorder* recorder_of(const DeviceState& device);
/// While it lives, this thread's work runs but is not recorded. The library uses it for its own work on memory that the
/// recorded work does not use.
class PauseRecording {
 public:
  PauseRecording() noexcept;
  ~PauseRecording();
  PauseRecording(const PauseRecording&) = delete;
  PauseRecording& operator=(const PauseRecording&) = delete;

 private:
  Recorder* const paused_;
};
/// True if this thread has a PauseRecording. Profiles also skip such work.
bool recording_is_paused() noexcept;
/// Throws if this thread records, because a replay cannot repeat the action that `what` describes.
void refuse_while_recording(const char* what);

}  // namespace crisol::runtime
