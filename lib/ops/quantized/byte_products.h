// The instruction that multiplies bytes with a sign by bytes without one, and adds four products to a sum of i32.
#pragma once

#include "dispatch/stored/probe_store.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The outcome of the probe for the instruction: "vpdpbusd" with vectors of 64 bytes, "vpdpbusd_gfni" if the processor
/// also has GFNI and AVX-512 VBMI2, or "none". It runs on CPUs only.
dispatch::ProbeOutcome found_byte_products(runtime::DeviceState& device);

}  // namespace crisol::ops
