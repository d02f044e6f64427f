// Geometry of kernels for CPUs: a few work-items, each a work-group of its own, that share all the work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/launch.h"

namespace crisol::ops {

/// Two items for each compute unit, at least 8, but no more than there are units of work. The kernel gives item i the
/// units from units * i / items on.
inline runtime::NdRange persistent_range(const runtime::DeviceState& device, std::int64_t units) {
  const std::int64_t items = std::max<std::int64_t>(8, 2 * std::int64_t{runtime::info_of(device).compute_units});
  return {{std::min(items, units)}, {1}};
}

/// Lanes of the vectors in such kernels (common/vector.h takes 4, 8 or 16).
inline int cpu_vector_width(const runtime::DeviceState& device) noexcept {
  return std::max(4, runtime::vector_width(device));
}

}  // namespace crisol::ops
