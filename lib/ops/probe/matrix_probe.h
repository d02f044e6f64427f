// Which matrix units a device has: tried once, then remembered on disk.
#pragma once

#include <string>

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// What multiplies matrices in this precision on the device, none where nothing does. The first question of a driver
/// compiles a kernel for each candidate until one gives the right numbers. Where "matrix" or "matrix_packed" of `op` is
/// forced on a device without candidates, an emulated unit.
MatrixUnit matrix_unit_of(runtime::DeviceState& device, Precision precision, const char* op);

}  // namespace crisol::ops
