// Combines the elements of all ranks on the host.
#pragma once

#include <cstddef>
#include <vector>

#include "crisol/dist.h"
#include "crisol/dtype.h"

namespace crisol::dist {

/// Combines `parts`, of `count` elements each, in the order of the ranks. Writes the result to all addresses in
/// `results`, which may be addresses in `parts`. For sums of f32 and f64, `weights` may have a factor for each rank.
/// Otherwise it is empty.
void fold(ReduceOp op, DType dtype, std::size_t count, const std::vector<const std::byte*>& parts,
          const std::vector<double>& weights, const std::vector<std::byte*>& results);

}  // namespace crisol::dist
