// The compiled programs that a driver stores by itself.
#pragma once

#include "crisol/device.h"

namespace crisol::runtime {

/// Whether the platform is PoCL.
bool is_pocl(const DeviceInfo& info);

/// Whether the driver stores all compiled programs in its own folder, and finds them there by their source. PoCL
/// does this. If a program asks PoCL for a binary, PoCL compiles all kernels once more, for any local size. This
/// takes as long as the first compilation. So for such a driver the cache of this library stores only a note, and no
/// binary.
bool driver_keeps_programs(const DeviceInfo& info);

/// Whether the driver's folder held something at the first call. Make the first call before the process builds a
/// program. If the folder was empty, the notes mean nothing.
bool driver_kept_programs();

}  // namespace crisol::runtime
