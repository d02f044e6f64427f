// Which devices' kernels exchange numbers within a sub-group: cl_kernels/common/subgroup_shuffle.h.
#pragma once

#include <cstdint>

#include "dispatch/stored/probe_store.h"
#include "dispatch/target.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The outcome of the probe for shuffles in inline assembly. It runs only where Shuffle::assembly is a trait of the
/// device.
dispatch::ProbeOutcome found_shuffles(runtime::DeviceState& device);

/// For a kernel whose work-groups are `items` wide: tells it that functions for sub-groups of 16 are there, or that
/// shuffles in inline assembly work. It sees other shuffles by its compiler's own macros.
void add_shuffle_define(runtime::Defines& defines, const dispatch::Target& target, std::int64_t items);

}  // namespace crisol::ops
