// Helpers that the ops of crisol/ops/index.h share.
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

/// The OpenCL type of indices. Throws, naming op, for a dtype that cannot be an index.
const char* type_of_index(const char* op, const Tensor& index);

/// The OpenCL type for moving elements of a dtype without a conversion.
const char* type_of_element(DType dtype);

/// Throws for undefined tensors, for a wrong index dtype, and for an index on another device.
void require_index(const char* op, const Tensor& x, const Tensor& index);

/// If CRISOL_CHECK_INDICES is set: waits for the indices and throws if one is outside [0, size).
void check_indices(const char* op, const Tensor& index, std::int64_t size);

/// The value that an op returns for an element that does not exist, as the bits of the dtype.
std::uint64_t missing_element(DType dtype);

/// ops::gather with `missing` as the value of elements that do not exist.
Tensor gather_or(const char* op, const Tensor& x, int axis, const Tensor& index, std::uint64_t missing);

/// index_add for contiguous tensors seen as (outer, size, inner), in place on y. Nothing is added to the destination
/// `skipped`.
void index_add_into(const char* op, const Tensor& y, const AxisSplit& split, const Tensor& index, const Tensor& src,
                    std::optional<std::int64_t> skipped = std::nullopt);

}  // namespace crisol::ops
