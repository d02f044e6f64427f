// Sums and copies of tensors over all ranks.
#pragma once

#include "crisol/dist.h"
#include "dist/session.h"

namespace crisol::dist {

/// For example "f32 (3, 4)".
std::string description_of(const Tensor& x);

/// For example "fc.weight f32 (10, 84), …". Ranks compare these texts.
std::string descriptions_of(const NamedTensors& tensors);

/// Sums x over all ranks, weighted by `weights`, and returns this rank's part of the sum. Without weights it is the
/// mean.
Tensor reduce_scatter_weighted(Session& session, const Tensor& x, const std::vector<double>& weights);

/// Gives all ranks the elements of rank `root`. The caller knows that all ranks have the same shape.
void broadcast_unchecked(Session& session, Tensor x, int root);

}  // namespace crisol::dist
