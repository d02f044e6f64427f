// Tests whether the work-items of a sub-group really exchange numbers.
#pragma once

#include "runtime/launch.h"

namespace crisol::ops {

/// Whether SHUFFLE_XOR of cl_kernels/common/subgroup_shuffle.h, with these defines, exchanges numbers among at least 16
/// items. Throws build_failure if it does not compile.
bool shuffles_rightly(runtime::DeviceState& device, const runtime::Defines& defines);

}  // namespace crisol::ops
