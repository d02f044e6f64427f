// Differentiable rearranging: copies of a tensor's elements in other places. Any dtype. Errors (invalid_argument): an
// undefined tensor, an axis out of range or named twice, numbers that do not fit the shape.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol {

/// The elements along each of `axes` in the opposite order. No axis gives a plain copy.
CRISOL_API Tensor flip(const Tensor& x, const Shape& axes);

/// Element i along axes[k] moves to i + shifts[k]; what leaves at one end enters at the other. As many shifts as axes.
/// Without axes, one shift moves the elements in their order, as if x had rank 1.
CRISOL_API Tensor roll(const Tensor& x, const Shape& shifts, const Shape& axes = {});

/// x counts[i] times along axis i. More counts than axes add axes in front, as in expand. Refuses fewer counts than
/// axes and negative counts.
CRISOL_API Tensor repeat(const Tensor& x, const Shape& counts);

/// repeat, but fewer counts than axes are those of the last axes; the others stay (NumPy's tile).
CRISOL_API Tensor tile(const Tensor& x, const Shape& counts);

/// Views of tensors of rank 0 or 1, all of the shape (n_0, n_1, …) of their sizes: result k holds element i of tensor k
/// wherever index k is i. With xy_indexing the first two axes are exchanged (PyTorch's indexing="xy", NumPy's default).
CRISOL_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, bool xy_indexing = false);

}  // namespace crisol
