// Gradients joined into a few flat tensors.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::optim {

/// The gradients of the parameters that have one. Gradients that follow each other in an optimiser's arena become one
/// flat tensor. The gaps between them hold zeros.
std::vector<Tensor> flat_gradients(const std::vector<Tensor>& parameters);

}  // namespace crisol::optim
