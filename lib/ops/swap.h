// Which devices' kernels exchange numbers within a sub-group: cl_kernels/common/swap.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/launch.h"

namespace crisol::ops {

/// For a kernel whose work-groups are `items` wide: tells it that Intel's sub-groups of 16 are there. Others it sees by
/// its compiler's own macros.
inline void add_swap_define(runtime::Defines& defines, const DeviceInfo& info, std::int64_t items) {
  const auto& sizes = info.subgroup_sizes;
  if (items % 16 == 0 && info.has_extension("cl_intel_subgroups") &&
      info.has_extension("cl_intel_required_subgroup_size") && std::find(sizes.begin(), sizes.end(), 16) != sizes.end())
    defines.add({"INTEL_SUBGROUPS", 1});
}

}  // namespace crisol::ops
