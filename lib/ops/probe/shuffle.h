// How kernels on a device exchange numbers within a sub-group: cl_kernels/common/subgroup_shuffle.h.
#pragma once

#include <cstdint>

#include "dispatch/stored/probe_store.h"
#include "dispatch/target.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The outcome of the probe for shuffles in inline assembly. The probe runs only if the device has the trait
/// Shuffle::assembly.
dispatch::ProbeOutcome found_shuffles(runtime::DeviceState& device);

/// Adds a define if the kernel may use the functions for sub-groups of 16, or shuffles in inline assembly. The kernel's
/// work-groups are `items` wide. The define says nothing of other shuffles: macros of the compiler tell of them.
void add_shuffle_define(runtime::Defines& defines, const dispatch::Target& target, std::int64_t items);

}  // namespace crisol::ops
