// Device work as a list of commands that can be queued again; see crisol/capture.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/capture/capture.h"
#include "runtime/cl.h"
#include "runtime/clblast.h"
#include "runtime/launch.h"

namespace crisol::runtime {

class CommandBuffer;

/// A captured launch: a separate kernel object with fixed arguments.
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
using Command = std::variant<LaunchCommand, FillCommand, CopyCommand, ClblastCall>;

/// Commands that are queued one after another, followed by a call of a host function.
struct CapturedPart {
  std::vector<Command> commands;
  std::unique_ptr<CommandBuffer> buffer;
  std::function<void(std::exception_ptr error)> call;  ///< Empty in the last part.
};

/// Captures the work that this thread queues on the device, from construction to end(). The memory of this work is
/// reserved (MemoryPool::reserve) until the Capturer is destroyed. Memory that is allocated and freed in this time is
/// reused only by later commands of this graph.
///
/// With FirstRun::in_replay, blocks that are allocated meanwhile have no memory until place_memory(). The arguments of
/// the commands are null until then.
class Capturer {
 public:
  /// Throws if this thread already captures.
  Capturer(DeviceState& device, FirstRun first_run);
  ~Capturer();
  Capturer(const Capturer&) = delete;
  Capturer& operator=(const Capturer&) = delete;

  void add_launch(const BuiltKernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count);
  void add_fill(const Block& block, std::size_t offset, std::size_t size, const void* pattern,
                std::size_t pattern_size);
  void add_copy(const Block& from, std::size_t from_offset, const Block& to, std::size_t to_offset, std::size_t size);
  void add_clblast(const ClblastCall& call, const std::array<const Block*, 3>& blocks);
  void add_call(std::function<void(std::exception_ptr error)> function);

  /// Whether the commands do not run while they are captured. Blocks are then planned.
  bool plans_memory() const noexcept { return first_run_ == FirstRun::in_replay; }
  /// Plans a block that was just allocated.
  void plan(const std::shared_ptr<PooledBlock>& block);

  /// Ends the capture: nothing is added from now on.
  void end() noexcept;
  /// Gives memory to the planned blocks. A block that is still in use gets memory of its own. The other blocks share
  /// memory, because each one is needed only from its first command to its last command.
  void place_memory();
  /// Lets the driver keep the commands (cl_khr_command_buffer). Returns null, or the reason why the driver cannot keep
  /// them.
  const char* keep_in_command_buffer();
  bool in_command_buffer() const noexcept { return in_command_buffer_; }

  /// Whether the block was allocated for this capture, so that the commands write it.
  bool made(const Block& block) const noexcept;
  /// From the next replay on, the commands can use another block in the place of this one: see set_parameter. Returns
  /// the parameter's number, or nothing if no command uses the block or if other memory is impossible: the driver or a
  /// call of the host's holds the memory. Only after place_memory.
  std::optional<std::size_t> add_parameter(const Block& block);
  /// Sets the memory of a parameter for later replays. The commands do not keep it.
  void set_parameter(std::size_t number, const Block& block);
  /// The memory of a parameter's block is no longer kept. Each replay must set the parameter before.
  void let_go(const Block& block);

  /// Queues the commands once more.
  void replay();

  std::size_t size() const noexcept;
  /// Notes that the last launch runs code that has not run before.
  void note_new_code() noexcept { ++new_code_; }
  std::size_t new_code() const noexcept { return new_code_; }
  /// Whether a command uses the block.
  bool uses(const Block& block) const { return used_.count(block.memory()) > 0; }
  /// A number that identifies the capture in this process. It is not 0.
  std::uint64_t number() const noexcept { return number_; }
  DeviceState& device() const noexcept { return device_; }

  /// Free blocks of this capture, by size. The pool uses this list, and the pool's lock guards it.
  FreeMemory idle;

 private:
  void add(Command command) { parts_.back().commands.push_back(std::move(command)); }
  void queue(CapturedPart& part);
  /// Notes that the next command uses a block. `place` is the index of a kernel's parameter, 0 or 1 for the source or
  /// the target of a copy, or the index of CLBlast's operand.
  void use(const Block& block, cl_uint place);
  void keep(const Block& block);
  _cl_mem* part_of(_cl_mem* whole, std::uint64_t offset, std::uint64_t bytes);
  void set_memory(Command& command, cl_uint place, _cl_mem* memory);
  void run(const LaunchCommand& command);
  void run(const FillCommand& command);
  void run(const CopyCommand& command);
  void run(const ClblastCall& call) { run_clblast(device_, call); }

  struct Planned {
    std::weak_ptr<PooledBlock> block;
    std::uint64_t bytes;
    std::size_t uses = 0, first = 0, last = 0;  ///< How many commands use the block, and the first and the last of
                                                /// these commands.
  };
  /// A place in a command, and its memory. A planned block's is null until place_memory.
  struct Use {
    std::size_t part, command;
    cl_uint place;
    std::size_t planned;
    _cl_mem* memory;
  };

  DeviceState& device_;
  const FirstRun first_run_;
  const std::uint64_t number_;
  std::mutex mutex_;  ///< Guards replays.
  std::vector<CapturedPart> parts_;
  std::vector<cl::Memory> memory_;
  std::unordered_set<_cl_mem*> used_;
  std::vector<_cl_mem*> reserved_;
  std::vector<Planned> planned_;
  std::vector<Use> uses_;  ///< Only if memory is planned.
  std::vector<std::vector<Use>> parameters_;
  std::size_t new_code_ = 0;
  bool may_fault_ = false;  ///< Whether a command may write the device's FaultFlag.
  bool in_command_buffer_ = false;
};

}  // namespace crisol::runtime
