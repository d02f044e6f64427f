// What a Saved holds instead of a tensor within checkpoint().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensor/impl.h"

namespace crisol::autograd {

class CheckpointFrame;

/// The version of a tensor's elements.
inline std::uint64_t version_of(const Tensor& tensor) {
  return tensor.impl()->storage->version.load(std::memory_order_relaxed);
}
/// Throws if the elements have another version: then backward cannot use them.
void require_version(const Tensor& tensor, std::uint64_t version);

/// Identifies one of the tensors that the function of a checkpoint() saved. Copies share the tensor.
class Recomputed {
 public:
  /// No place.
  Recomputed() = default;

  /// Called when a tensor is saved within checkpoint(). In the function's first run it returns the tensor's place, and
  /// the tensor need not be kept. In the second run it stores the tensor in the place of the first run, and returns no
  /// place.
  static Recomputed place_for(const Tensor& tensor);

  struct Place;
  const std::shared_ptr<Place>& place() const noexcept { return place_; }

  explicit operator bool() const noexcept { return place_ != nullptr; }
  /// The tensor, outside of the graph. If the tensor is not there, the function runs again.
  Tensor get() const;

 private:
  explicit Recomputed(std::shared_ptr<Place> place) : place_(std::move(place)) {}

  std::shared_ptr<Place> place_;
  friend class CheckpointFrame;
};

/// The call of checkpoint() that a place keeps, which all of its places share.
const std::shared_ptr<CheckpointFrame>& frame_of(const Recomputed::Place& place) noexcept;

/// Such a call keeps its function, and its inputs with their places in the graph.
const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function_of(const CheckpointFrame& frame);
std::vector<const TensorImpl*> inputs_of(const CheckpointFrame& frame);

}  // namespace crisol::autograd
