// Sums and copies of tensors over all ranks.
#pragma once

#include "crisol/dist.h"
#include "dist/session.h"

namespace crisol::dist {

/// "f32 (3, 4)".
std::string description_of(const Tensor& x);

/// "fc.weight f32 (10, 84), …", for the comparison of the ranks.
std::string descriptions_of(const NamedTensors& tensors);

/// The part of this rank of the sum of x over all ranks, weighted by `weights`. Their mean without weights.
Tensor reduce_scatter_weighted(Session& session, const Tensor& x, const std::vector<float>& weights);

/// Gives all ranks the elements of rank `root`. All ranks are known to give the same shape.
void broadcast_unchecked(Session& session, Tensor x, int root);

}  // namespace crisol::dist
