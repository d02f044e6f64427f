// arange() by its end, and differentiable functions that copy a tensor's elements to other positions. Any dtype. Errors
// (invalid_argument): an undefined tensor, an axis out of range or named twice, numbers that do not fit the shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol {

/// The numbers 0, 1, … below end: arange(0, end, 1, dtype, device). `arange(5, DType::i64)` has 0 to 4.
inline Tensor arange(double end, DType dtype = default_dtype(), Device device = Device()) {
  return arange(0, end, 1, dtype, device);
}

/// A copy of x with the elements along each of `axes` in the opposite order. An empty list gives a plain copy.
CRISOL_API Tensor flip(const Tensor& x, const Shape& axes);

/// Moves element i along axes[k] to position i + shifts[k]. Elements that leave at one end enter at the other. There is
/// one shift for each axis. Without axes there is one shift, and x is rolled as if it had rank 1.
CRISOL_API Tensor roll(const Tensor& x, const Shape& shifts, const Shape& axes = {});

/// Repeats x counts[i] times along axis i. If there are more counts than axes, x first gets axes of size 1 in front, as
/// in expand. Refuses fewer counts than axes and negative counts.
CRISOL_API Tensor repeat(const Tensor& x, const Shape& counts);

/// Like repeat, but with fewer counts than axes the counts belong to the last axes. The other axes stay unchanged.
/// NumPy's tile.
CRISOL_API Tensor tile(const Tensor& x, const Shape& counts);

/// A view of x's memory with any sizes and strides, in elements: element (i, j, …) of the view is element offset +
/// i strides[0] + j strides[1] + … of the memory. Without an offset the view begins where x begins (Tensor::offset).
/// Several indices may mean one element, so this makes windows that overlap. Nothing can be written to such a view.
/// Refuses negative sizes and strides, and elements outside of x, or of the tensor that x is a view of.
CRISOL_API Tensor as_strided(const Tensor& x, const Shape& shape, const Shape& strides,
                             std::optional<std::int64_t> offset = std::nullopt);

/// Expands tensors of rank 0 or 1 to one grid. All results are views of shape (n_0, n_1, …), where n_k is the number of
/// elements of tensor k. The element of result k at (i_0, i_1, …) is element i_k of tensor k. With xy_indexing the
/// first two axes are exchanged (PyTorch's indexing="xy", NumPy's default).
CRISOL_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, bool xy_indexing = false);

}  // namespace crisol
