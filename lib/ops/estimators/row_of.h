#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::ops {

/// A list as a tensor of rank 1 on a device.
template <class T>
Tensor row_of(const std::vector<T>& values, Device device) {
  return from_vector(values, Shape(static_cast<std::int64_t>(values.size())), device);
}

}  // namespace crisol::ops
