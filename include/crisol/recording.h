// A fixed sequence of work on a device, recorded once and queued again for a fraction of what the host spends on it.
//
//     Tensor images = empty({64, 1, 28, 28}), labels = empty({64}, DType::i64), loss;
//     const auto step = [&] {
//       loss = cross_entropy(net(images), labels);
//       optimizer.zero_grad();
//       loss.backward();
//       optimizer.step();
//     };
//     step();                            // Once as usual: compiles kernels, makes states.
//     Recording recording = record(step);
//     for (const Batch& batch : loader) {
//       images.copy_from(batch.images);  // Replays read what lies in the tensors that were recorded.
//       labels.copy_from(batch.labels);
//       recording.replay();              // New values in `loss`, the parameters and the optimiser's states.
//     }
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// How commands are queued again.
enum class ReplayBy {
  any,             ///< By a command buffer where the device has them, else one by one.
  command_buffer,  ///< By one call: the driver keeps them (cl_khr_command_buffer).
  launches,        ///< One by one, with arguments that were set once.
};

/// The kernels, copies and fills that some work queued, with the memory that they use. Copies of the handle are the
/// same recording. That memory is nobody else's until the last handle goes: tensors that the work made and let go of
/// cost as much as during one ordinary run.
class CRISOL_API Recording {
 public:
  /// Queues the commands once more, after what this and other threads have queued, and does not wait. They read and
  /// write the memory that they read and wrote when they were recorded: replays of the same work with the same values
  /// give the same bits. Random numbers go on; the results of tensors that the work made come anew where their handles
  /// still live.
  /// Throws invalid_argument when a weight was written since of which the recording uses a packed copy (recorded
  /// without gradients): record again.
  void replay() const;

  /// Commands.
  std::size_t size() const noexcept;
  /// Whether one call queues them.
  bool in_command_buffer() const noexcept;

 private:
  friend CRISOL_API Recording record(const std::function<void()>& work, Device device, ReplayBy by);
  struct Impl;
  explicit Recording(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Runs `work` once, as if it were called, and records what this thread queues on `device` meanwhile. What the host
/// alone does is not repeated: branches, counters, learning rates (which a replay reads as they are by then). Throws
/// invalid_argument, and what the work has queued by then is done, when the work reads values of a tensor, writes
/// values of the host's to one (uploads, the first use of a random generator or an optimiser), uses another device, or
/// records; and when `by` asks for a command buffer and the device has none.
CRISOL_API Recording record(const std::function<void()>& work, Device device = Device(), ReplayBy by = ReplayBy::any);

}  // namespace crisol
