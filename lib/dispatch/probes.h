// The abilities of a device that probes find by trying. Trying takes ops, which stand to the right of dispatch.
#pragma once

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "runtime/launch.h"

namespace crisol::dispatch {

/// The ops set these functions when the library is loaded, in files whose kernels use the answers. If a function is not
/// set, nothing asks for its answer.
struct Probes {
  /// Whether shuffles in inline assembly work on the device.
  bool (*assembly_shuffles)(runtime::DeviceState& device) = nullptr;
  /// The matrix unit of the device for a precision.
  MatrixUnit (*matrix_unit)(runtime::DeviceState& device, Precision precision) = nullptr;
};
Probes& probes() noexcept;

}  // namespace crisol::dispatch
