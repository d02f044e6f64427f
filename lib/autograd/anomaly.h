// The search for NaN and infinity.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::autograd {

/// Whether every element of a tensor is finite. The call waits. True for undefined tensors and for tensors of whole
/// numbers.
bool is_finite(const Tensor& tensor);

/// Throws invalid_argument, naming op, if a result of the op holds NaN or infinity. The message says whether an input
/// already held one.
void check_results(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

}  // namespace crisol::autograd
