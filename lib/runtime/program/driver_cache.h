// What a driver keeps of compiled programs by itself.
#pragma once

#include "crisol/device.h"

namespace crisol::runtime {

/// Whether the platform is PoCL.
bool is_pocl(const DeviceInfo& info);

/// Whether the driver keeps all that it compiles in a folder of its own, and finds it there by the program's source.
/// PoCL does. When PoCL is asked for a program's binary, it compiles all kernels of the program once more, in a form
/// for any local size, which takes as long as the first compilation. So for such a driver the cache of this library
/// notes a program, and stores no binary.
bool driver_keeps_programs(const DeviceInfo& info);

/// Whether that folder held something when this was first asked. Ask before the process builds a program. Without the
/// folder's contents the notes mean nothing.
bool driver_kept_programs();

}  // namespace crisol::runtime
