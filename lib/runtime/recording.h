// What the rest of the library sees of recordings (crisol/recording.h): recorder.h without OpenCL.
#pragma once

#include <cstddef>
#include <memory>

namespace crisol::runtime {

class DeviceState;
class Recorder;

/// Takes down what this thread queues on the device until end_recording; refuses when this thread records already.
std::shared_ptr<Recorder> begin_recording(DeviceState& device);
void end_recording(Recorder& recorder) noexcept;
/// Lets the driver keep the commands (cl_khr_command_buffer); null, or why it does not.
const char* keep_in_command_buffer(Recorder& recorder);
bool in_command_buffer(const Recorder& recorder) noexcept;
std::size_t commands_of(const Recorder& recorder) noexcept;
/// Queues the commands once more.
void replay(Recorder& recorder);

/// What records this thread's work, or null.
Recorder* current_recorder() noexcept;
/// The same where it records this device; refuses work on another device, which a replay would leave out.
Recorder* recorder_of(const DeviceState& device);
/// While it lives, this thread's work is done and not recorded: for work of the library's own, on memory that the
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
/// Whether a PauseRecording lives on this thread; profiles pass over such work as well.
bool recording_is_paused() noexcept;
/// Refuses what a replay cannot repeat: `what` happens.
void refuse_while_recording(const char* what);

}  // namespace crisol::runtime
