// Tensors of random numbers. The same seed gives the same numbers.
#pragma once

#include "support/compare.h"

namespace crisol::testing {

inline Tensor random_tensor(std::uint64_t seed, const Shape& shape, double low = -1, double high = 1) {
  return tensor_of(random_values(seed, shape.numel(), low, high), shape);
}

/// Positions in an axis of this size.
inline Tensor random_indices(std::uint64_t seed, const Shape& shape, std::int64_t size) {
  return tensor_of(random_integers(seed, shape.numel(), 0, size - 1), shape, DType::i64);
}

}  // namespace crisol::testing
