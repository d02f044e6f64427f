// The rule for changing a tensor in place.
#pragma once

#include "crisol/grad_mode.h"
#include "crisol/tensor.h"

namespace crisol {

/// Throws if ops are recorded and the tensor wants a gradient, because the graph would not know of the change. Tells a
/// Recorder of the change.
void require_in_place_allowed(const char* op, const Tensor& tensor);

}  // namespace crisol
