// What the ops of crisol/ops/index.h share.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/tensor.h"

namespace crisol::ops {

/// A contiguous tensor seen as (outer, size, inner) around an axis.
struct AxisSplit {
  std::int64_t outer = 1, size = 1, inner = 1;
};
AxisSplit split_at(const Shape& shape, int axis);

/// The OpenCL type of indices; refuses, naming op, a dtype that is none.
const char* type_of_index(const char* op, const Tensor& index);

/// The OpenCL type that elements of a dtype are moved as, without being looked at.
const char* type_of_element(DType dtype);

/// Refuses undefined tensors, a wrong index dtype and an index on another device.
void require_index(const char* op, const Tensor& x, const Tensor& index);

/// Under CRISOL_CHECK_INDICES: waits for the indices and refuses one outside [0, size).
void check_indices(const char* op, const Tensor& index, std::int64_t size);

/// What an op gives in place of an element that does not exist, as the bits of the dtype.
std::uint64_t missing_element(DType dtype);

/// ops::gather with another such value.
Tensor gather_or(const char* op, const Tensor& x, int axis, const Tensor& index, std::uint64_t missing);

/// index_add for contiguous tensors seen as (outer, size, inner), in place on y; `skipped` is a destination that
/// nothing is added to.
void index_add_into(const char* op, const Tensor& y, const AxisSplit& split, const Tensor& index, const Tensor& src,
                    std::optional<std::int64_t> skipped = std::nullopt);

}  // namespace crisol::ops
