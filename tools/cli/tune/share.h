// `crisol tune --share`: a file for devices/.
#pragma once

#include <string>

#include "crisol/device.h"

namespace crisol::cli::tune {

/// Writes the facts of the device, as `crisol info --json` prints them, and what is stored for it. Throws io if the
/// file cannot be written, and invalid_argument if nothing that was measured is stored for the device. Returns the
/// number of problems.
std::size_t share(Device device, const std::string& path);

}  // namespace crisol::cli::tune
