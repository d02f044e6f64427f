// Whether two handles are the same parameter.
#pragma once

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::nn {

/// A pointer that all handles of a parameter have in common, also those of parameters that are tied to it. Another
/// parameter has another pointer.
CRISOL_API const void* identity_of(const Tensor& parameter) noexcept;

}  // namespace crisol::nn
