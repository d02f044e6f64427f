// The rule for changing a tensor in place without a record.
#pragma once

#include "crisol/grad_mode.h"
#include "crisol/tensor.h"

namespace crisol {

/// For writes that autograd cannot record. Throws if ops are recorded and the tensor, or its base if it is a view,
/// requires a gradient. Tells a Trace of the change.
void require_in_place_allowed(const char* op, const Tensor& tensor);

}  // namespace crisol
