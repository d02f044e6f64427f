// Combines the elements of all ranks on the host.
#pragma once

#include <cstddef>
#include <vector>

#include "crisol/dist.h"
#include "crisol/dtype.h"

namespace crisol::dist {

/// Combines part r of each rank r, `count` elements each, in the order of the ranks. The parts follow each other in
/// `parts`. `result` may be one of them. `weights` has a factor for each rank, for sums of f32, or nothing.
void fold(ReduceOp op, DType dtype, std::size_t count, const std::byte* parts, std::size_t ranks,
          const std::vector<float>& weights, std::byte* result);

}  // namespace crisol::dist
