// Within checkpoint(), a Saved keeps this record instead of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/impl.h"

namespace crisol::autograd {

class CheckpointFrame;

/// The version of the elements of a tensor.
inline std::uint64_t version_of(const Tensor& tensor) {
  return tensor.impl()->storage->version.load(std::memory_order_relaxed);
}
/// Throws if the elements have another version, because then backward cannot use them.
void require_version(const Tensor& tensor, std::uint64_t version);

/// The place of one tensor among the tensors that the function of a checkpoint() saved. Copies share the tensor.
class Recomputed {
 public:
  /// No place.
  Recomputed() = default;

  /// A tensor is saved within checkpoint(). The first time, this gives its place, and the tensor need not be kept. When
  /// the function runs again, the tensor goes to the place that it had the first time, and the result is no place.
  static Recomputed place_for(const Tensor& tensor);

  explicit operator bool() const noexcept { return place_ != nullptr; }
  /// The tensor, outside the graph. The function runs again if the tensor is not there.
  Tensor get() const;

 private:
  struct Place;
  explicit Recomputed(std::shared_ptr<Place> place) : place_(std::move(place)) {}

  std::shared_ptr<Place> place_;
  friend class CheckpointFrame;
};

}  // namespace crisol::autograd
