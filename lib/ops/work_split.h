// How work is cut for CPU devices: few work-items, each with a long contiguous piece.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/launch.h"

namespace crisol::ops {

struct WorkSplit {
  std::int64_t items;  ///< Work-items, in groups of one.
  std::int64_t chunk;  ///< Elements of each; the last may have fewer.
};

/// Chunks of at least `least` and a multiple of `multiple` elements, at most four work-items for each compute unit.
inline WorkSplit split_for_cpu(const runtime::DeviceState& device, std::int64_t n, std::int64_t least = 8192,
                               std::int64_t multiple = 16) {
  const std::int64_t most = std::int64_t{4} * runtime::info_of(device).compute_units;
  const std::int64_t wanted = std::clamp<std::int64_t>(n / least, 1, most);
  const std::int64_t chunk = ((n + wanted - 1) / wanted + multiple - 1) / multiple * multiple;
  return {(n + chunk - 1) / chunk, chunk};
}

}  // namespace crisol::ops
