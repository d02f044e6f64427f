// Gradients as few flat tensors.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::optim {

/// The gradients of those parameters that have one. Those that lie behind one another in an optimiser's arena are one
/// flat tensor: the gaps between them are zero.
std::vector<Tensor> flat_gradients(const std::vector<Tensor>& parameters);

}  // namespace crisol::optim
