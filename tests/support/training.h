// A short training that uses much of the library, for tests that run other work at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/device.h"

namespace crisol::testing {

/// Trains a small convolutional network with batch norm and dropout on a device, with weights and data from the seed.
/// Returns the losses, then all final parameters. The same arguments give the same bits, whatever else runs.
std::vector<float> trained(Device device, std::uint64_t seed, int steps);

}  // namespace crisol::testing
