// The geometry of kernels for CPUs: a few work-items, each a work-group of its own, share all the work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dispatch/target.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// Two items for each compute unit, at least 8, and as many as the loop budget needs, but no more than there are units
/// of work. `iterations` is the most that a unit takes. The kernel gives item i the units from units * i / items on.
inline runtime::NdRange persistent_range(const dispatch::Target& target, std::int64_t units, std::int64_t iterations) {
  const std::int64_t units_of_item = std::max<std::int64_t>(1, target.loop_budget / iterations);
  const std::int64_t items =
      std::max({std::int64_t{8}, 2 * std::int64_t{target.info.compute_units}, units / units_of_item + 1});
  return {{std::min(items, units)}, {1}};
}

}  // namespace crisol::ops
