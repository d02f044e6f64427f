// Functions whose result has a shape that depends on the elements of x. Each call waits for the device, which computes
// this shape. Any dtype and strides. Errors (invalid_argument): an undefined tensor, two devices, a shape or an axis
// that does not fit.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/tensor.h"

namespace crisol {

/// The positions of the elements that are not 0, as i64 (N, rank of x): a row for each such element, in the order of
/// the elements. A row has the position along each axis. NaN is not 0. Has no gradient.
CRISOL_API Tensor nonzero(const Tensor& x);

/// The elements of x for which mask is true, in order, as a tensor of one axis. mask is bool. Both broadcast to one
/// shape. Differentiable in x.
CRISOL_API Tensor masked_select(const Tensor& x, const Tensor& mask);

/// Repeats each slice of x along an axis `count` times: 1, 1, 2, 2. Without an axis x counts as a tensor of one axis.
/// PyTorch's repeat_interleave, NumPy's repeat. Differentiable in x. Does not wait. Refuses a negative count.
CRISOL_API Tensor repeat_interleave(const Tensor& x, std::int64_t count, std::optional<int> axis = std::nullopt);

/// Repeats slice i of x along an axis counts[i] times. counts has whole numbers, rank 1 with a count for each slice,
/// or with one count for all. Refuses negative counts.
CRISOL_API Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int> axis = std::nullopt);

/// Options of unique, by name: `unique(x, {.axis = 0})`.
struct UniqueOptions {
  bool sorted = true;            ///< From small to large. Otherwise in the order in which the values first appear.
  std::optional<int> axis = {};  ///< Slices along this axis are compared. Without an axis all elements are compared.
};

/// What unique finds. N elements (or slices) have U different values.
struct UniqueResult {
  Tensor values;   ///< The different values: (U), or x with size U along the axis.
  Tensor indices;  ///< The position of the first element with each value, i64 (U).
  Tensor inverse;  ///< The position of each element's value in `values`, i64 (N).
  Tensor counts;   ///< How many elements have each value, i64 (U).
};

/// The different values of x, PyTorch's unique. Slices are ordered by their first elements that differ. Each NaN counts
/// as a different value. `values` is differentiable in x: the gradient goes to the first element with a value. Slices
/// of m elements take m sorts.
CRISOL_API UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});

}  // namespace crisol
