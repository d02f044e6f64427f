// Commands that the driver keeps: the extension cl_khr_command_buffer.
#pragma once

#include <memory>
#include <vector>

#include "runtime/recorder.h"

namespace crisol::runtime {

struct CommandBufferCalls;

/// A sequence for one in-order queue, queued by one call.
class CommandBuffer {
 public:
  /// Fills `buffer` and returns null, or leaves it and says why the device keeps no commands.
  static const char* make(DeviceState& device, const std::vector<Command>& commands,
                          std::unique_ptr<CommandBuffer>& buffer);
  ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  cl_command_queue queue() const noexcept { return queue_; }
  void enqueue();

 private:
  explicit CommandBuffer(cl_command_queue queue);
  cl_int add(const LaunchCommand& command);
  cl_int add(const FillCommand& command);
  cl_int add(const CopyCommand& command);

  std::unique_ptr<CommandBufferCalls> calls_;
  cl_command_queue queue_;
  void* handle_ = nullptr;
  cl::Event last_;  ///< Of the last run, where a buffer may not be queued while it runs.
  bool one_at_a_time_ = false;
};

}  // namespace crisol::runtime
