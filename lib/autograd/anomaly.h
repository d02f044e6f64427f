// The search for NaN and infinity.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::autograd {

/// True if every element of a tensor is finite; waits. Tensors without floating elements, and undefined ones, are.
bool is_finite(const Tensor& tensor);

/// Throws invalid_argument, naming op, if one of its results holds NaN or infinity. The text says whether an input held
/// one before.
void check_results(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

}  // namespace crisol::autograd
