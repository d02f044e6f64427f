// How work is split for CPU devices: few work-items, each with a long contiguous piece.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dispatch/persistent.h"

namespace crisol::ops {

struct WorkSplit {
  std::int64_t items;  ///< Work-items, in groups of one.
  std::int64_t chunk;  ///< Elements of each item; the last may have fewer.
};

/// A chunk has at least `least` elements, and a multiple of `multiple`. There are at most four work-items for each
/// compute unit, or more if the device's loop budget needs more. An element takes `iterations` of this budget.
inline WorkSplit split_for_cpu(const dispatch::Target& target, std::int64_t n, std::int64_t least = 8192,
                               std::int64_t multiple = 16, std::int64_t iterations = 2) {
  const std::int64_t longest = std::max<std::int64_t>(1, target.loop_budget / iterations / multiple) * multiple;
  const std::int64_t most = std::max(std::int64_t{4} * target.info.compute_units, (n + longest - 1) / longest);
  const std::int64_t wanted = std::clamp<std::int64_t>(n / least, 1, most);
  const std::int64_t even = ((n + wanted - 1) / wanted + multiple - 1) / multiple * multiple;
  const std::int64_t chunk = std::min(even, longest);
  return {(n + chunk - 1) / chunk, chunk};
}
inline WorkSplit split_for_cpu(const runtime::DeviceState& device, std::int64_t n, std::int64_t least = 8192,
                               std::int64_t multiple = 16, std::int64_t iterations = 2) {
  const DeviceInfo& info = runtime::info_of(device);
  return split_for_cpu(dispatch::Target{info, 1, loop_budget(info)}, n, least, multiple, iterations);
}

}  // namespace crisol::ops
