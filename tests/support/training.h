// A short training that uses much of the library, for tests of what goes on beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/device.h"

namespace crisol::testing {

/// The losses and, at the end, all parameters of a small convolutional network with batch norm and dropout, trained on
/// a device with weights and data drawn from the seed. The same arguments give the same bits, whatever else runs.
std::vector<float> trained(Device device, std::uint64_t seed, int steps);

}  // namespace crisol::testing
