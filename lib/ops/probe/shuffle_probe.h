// Whether work-items of a sub-group really show each other numbers.
#pragma once

#include "runtime/launch.h"

namespace crisol::ops {

/// Whether SHUFFLE_XOR of cl_kernels/common/subgroup_shuffle.h, as these defines make it, exchanges among 16 items at
/// least. Throws build_failure if it does not compile.
bool shuffles_rightly(runtime::DeviceState& device, const runtime::Defines& defines);

}  // namespace crisol::ops
