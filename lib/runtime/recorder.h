// Device work as a list of commands that is queued again; see crisol/recording.h.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/cl.h"
#include "runtime/launch.h"
#include "runtime/recording.h"

namespace crisol::runtime {

class CommandBuffer;

/// A kernel of its own, whose arguments are set for good.
struct LaunchCommand {
  cl::Kernel kernel;
  std::string name;
  NdRange range;
};
struct FillCommand {
  cl_mem memory;
  std::array<std::byte, 16> pattern;
  std::size_t pattern_size, offset, size;
};
struct CopyCommand {
  cl_mem from, to;
  std::size_t from_offset, to_offset, size;
};
using Command = std::variant<LaunchCommand, FillCommand, CopyCommand>;

/// From construction to end() it takes down what this thread queues on the device. The memory that this uses is
/// reserved (MemoryPool::reserve) until the Recorder goes: what is made and freed meanwhile serves later commands of
/// this recording, and nobody else.
class Recorder {
 public:
  /// Refuses when this thread records already.
  explicit Recorder(DeviceState& device);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add_launch(const Kernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count);
  void add_fill(const Block& block, std::size_t offset, std::size_t size, const void* pattern,
                std::size_t pattern_size);
  void add_copy(const Block& from, std::size_t from_offset, const Block& to, std::size_t to_offset, std::size_t size);

  /// Nothing is added from now on.
  void end() noexcept;
  /// Lets the driver keep the commands (cl_khr_command_buffer); why not, where it does not.
  const char* keep_in_command_buffer();
  bool in_command_buffer() const noexcept { return buffer_ != nullptr; }

  /// Queues the commands once more.
  void replay();

  std::size_t size() const noexcept { return commands_.size(); }
  /// The pool gave this memory out for the recording. Only such memory may serve it again when it is let go of: what
  /// was there before is read by each replay.
  void note_made(_cl_mem* memory) { made_.insert(memory); }
  bool made(_cl_mem* memory) const { return made_.count(memory) != 0; }
  DeviceState& device() const noexcept { return device_; }

  /// Blocks of this recording that nobody holds, by size; the pool's, guarded by its lock.
  std::multimap<std::uint64_t, _cl_mem*> idle;

 private:
  void use(const Block& block);
  void run(const LaunchCommand& command);
  void run(const FillCommand& command);
  void run(const CopyCommand& command);

  DeviceState& device_;
  std::mutex mutex_;  ///< Of replays.
  std::vector<Command> commands_;
  std::vector<cl::Memory> memory_;
  std::unordered_set<_cl_mem*> used_, made_;
  std::vector<_cl_mem*> reserved_;
  std::unique_ptr<CommandBuffer> buffer_;
};

}  // namespace crisol::runtime
