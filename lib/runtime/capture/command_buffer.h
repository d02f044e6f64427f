// Command buffers: lists of commands that the driver keeps (the extension cl_khr_command_buffer).
#pragma once

#include <memory>
#include <vector>

#include "runtime/capture/capturer.h"

namespace crisol::runtime {

struct CommandBufferCalls;

/// A sequence of commands for one in-order queue. One call queues all of them.
class CommandBuffer {
 public:
  /// Fills `buffer` and returns null. If the device cannot keep commands, leaves `buffer` unchanged and returns the
  /// reason.
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
  cl_int add(const ClblastCall& /*call*/) { return CL_INVALID_OPERATION; }  // make() rejects this command.

  std::unique_ptr<CommandBufferCalls> calls_;
  cl_command_queue queue_;
  void* handle_ = nullptr;
  cl::Event last_;  ///< The event of the last run. It is used if a buffer may not be queued again while it runs.
  bool one_at_a_time_ = false;
};

}  // namespace crisol::runtime
