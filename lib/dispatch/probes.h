// What a device can do, as found out by probes. A probe runs ops, and dispatch may not include the layers of ops.
#pragma once

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "runtime/launch.h"

namespace crisol::dispatch {

/// Files whose kernels use the answers set these functions when the library is loaded. If a function is not set, nobody
/// needs its answer.
struct Probes {
  /// Whether shuffles in inline assembly work on the device.
  bool (*assembly_shuffles)(runtime::DeviceState& device) = nullptr;
  /// The matrix unit of the device for a precision.
  MatrixUnit (*matrix_unit)(runtime::DeviceState& device, Precision precision) = nullptr;
};
Probes& probes() noexcept;

}  // namespace crisol::dispatch
