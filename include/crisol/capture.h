// Captures a fixed sequence of work on a device once, and queues it again for a fraction of the host's time.
//
//     Tensor images = empty({64, 1, 28, 28}), labels = empty({64}, DType::i64), loss;
//     const auto step = [&] {
//       loss = cross_entropy(net(images), labels);
//       optimizer.zero_grad();
//       loss.backward();
//       optimizer.step();
//     };
//     step();                            // Once as usual: compiles kernels, makes states.
//     CapturedGraph graph = capture(step);
//     for (const Batch& batch : loader) {
//       images.copy_from(batch.images);  // A replay reads the present values of the tensors that the work read.
//       labels.copy_from(batch.labels);
//       graph.replay();                  // New values in `loss`, the parameters and the optimiser's states.
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
  any,             ///< By a command buffer on GPUs that support them, otherwise one by one.
  command_buffer,  ///< By one call: the driver keeps the commands (cl_khr_command_buffer).
  launches,        ///< One by one, with arguments that were set once.
};

/// The kernels, copies and fills that some work queued, with the memory that they use. A copy of the handle is the same
/// graph. Nothing else uses this memory until the last handle is destroyed. So the graph keeps the memory that one
/// ordinary run needs for its temporary tensors.
class CRISOL_API CapturedGraph {
 public:
  /// Queues the commands once more, after the work that this and other threads have queued, and does not wait. The
  /// commands read and write the same memory as when they were captured, so a replay with the same values gives the
  /// same bits. Random numbers continue. Tensors that the work made get new values, as long as their handles live.
  /// Throws invalid_argument if the graph uses a packed copy of a weight and the weight was written since. This is
  /// possible only for work that was captured without gradients. Capture the work again.
  void replay() const;

  /// The number of commands.
  std::size_t size() const noexcept;
  /// Whether one call queues all commands, in a command buffer.
  bool in_command_buffer() const noexcept;

 private:
  friend CRISOL_API CapturedGraph capture(const std::function<void()>& work, Device device, ReplayBy by);
  friend CapturedGraph capture_planned(const std::function<void()>& work, Device device);
  struct Impl;
  explicit CapturedGraph(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Calls `work` once, and captures the commands that this thread queues on `device` meanwhile. The commands also run. A
/// replay does not repeat the host's own work, such as branches, counters and printing. Each replay reads the current
/// learning rate. Throws invalid_argument if the work reads values of a tensor, copies host values to a tensor, uses
/// another device, or calls capture(). The first use of a random generator or an optimiser copies host values too. It
/// also throws if `by` is ReplayBy::command_buffer and the device has no command buffers. Commands that the work queued
/// before the error still run.
CRISOL_API CapturedGraph capture(const std::function<void()>& work, Device device = Device(),
                                 ReplayBy by = ReplayBy::any);

}  // namespace crisol
