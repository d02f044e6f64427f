// The device that each rank of a machine takes.
#pragma once

#include <functional>
#include <string>

namespace crisol::dist {

/// The text that names the device of a rank, made from the text of CRISOL_DEVICE. An empty text means the default
/// device. `fits` tells whether a text names a device of this machine.
std::string device_of_rank(const std::string& wanted, int local_rank,
                           const std::function<bool(const std::string& spec)>& fits);

}  // namespace crisol::dist
