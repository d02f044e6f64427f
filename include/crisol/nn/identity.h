// What the handles of a parameter have in common: an identity, and their elements.
#pragma once

#include "crisol/export.h"
#include "crisol/nn/parameter.h"
#include "crisol/tensor.h"

namespace crisol::nn {

/// A pointer that all handles of a parameter have in common, also those of parameters that are tied to it. Another
/// parameter has another pointer.
CRISOL_API const void* identity_of(const Tensor& parameter) noexcept;

/// Replaces the elements of a tensor, as an assignment to PyTorch's `x.data` does. The value has the tensor's shape and
/// dtype. Parameters that are tied to the tensor get the elements too. Views and other tensors that shared elements
/// with it keep the old ones. So they can give the tensor its old elements back.
CRISOL_API void replace_elements(const Tensor& x, const Tensor& value);

/// Makes a buffer another tensor, with the elements and the memory of `value`. If `x` is a view of a module's buffer,
/// the module's buffer changes too. Views and other tensors that shared elements with it keep the old ones.
CRISOL_API void take_elements(const Buffer& x, const Tensor& value);

}  // namespace crisol::nn
