// `crisol devices`
#pragma once

namespace crisol::cli {

/// Lists all devices, marks the default and says why it is the default; returns the exit status.
int list_devices(bool json);

}  // namespace crisol::cli
