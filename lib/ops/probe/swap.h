// Which devices' kernels exchange numbers within a sub-group: cl_kernels/common/swap.h.
#pragma once

#include <cstdint>

#include "dispatch/probe_store.h"
#include "dispatch/target.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// What the probe of NVIDIA's shuffles finds; it runs on NVIDIA's GPUs alone.
runtime::ProbeOutcome found_shuffles(runtime::DeviceState& device);

/// For a kernel whose work-groups are `items` wide: tells it that Intel's sub-groups of 16 are there, or that NVIDIA's
/// shuffles work. Others it sees by its compiler's own macros.
void add_swap_define(runtime::Defines& defines, const dispatch::Target& target, std::int64_t items);

}  // namespace crisol::ops
