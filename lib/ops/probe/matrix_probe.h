// The probe of matrix units. A device's description does not prove that they work.
#pragma once

#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// The first of the device's candidates for a precision that gives right products, or none.
dispatch::MatrixUnit found_matrix_unit(runtime::DeviceState& device, Precision precision);

}  // namespace crisol::ops
