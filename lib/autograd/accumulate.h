// Sums of gradients.
#pragma once

#include "autograd/node.h"

namespace crisol::autograd {

/// Adds a gradient to the sum for a result. The addition is recorded if ops are recorded.
void accumulate(Tensor& sum, Tensor&& gradient);

/// Adds to the gradient of a leaf, in the memory that its optimiser wants. If ops are recorded, the sum is a part of
/// the graph.
void accumulate_leaf(Slot& leaf, Tensor&& gradient);

}  // namespace crisol::autograd
