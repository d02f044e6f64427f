// Sums and copies of tensors over all ranks.
#pragma once

#include "crisol/dist.h"
#include "dist/session.h"

namespace crisol::dist {

/// "f32 (3, 4)".
std::string description_of(const Tensor& x);

/// Gives all ranks the elements of rank `root`. All ranks are known to give the same shape.
void broadcast_unchecked(Session& session, Tensor x, int root);

}  // namespace crisol::dist
