// A probe tests what a device can do. Each probe runs once in a process, and its outcome is stored next to the cached
// programs.
#pragma once

#include <functional>
#include <string>

#include "dispatch/stored/probe_store.h"
#include "runtime/launch.h"

namespace crisol::ops {

struct Probed {
  dispatch::ProbeOutcome outcome;
  bool lasting = true;  ///< False if the outcome may have a temporary cause, such as a lack of memory.
};

/// Returns `what` as the outcome if it works. Otherwise the outcome has the reason: wrong numbers, or the first line of
/// the error.
Probed probe_one(const char* what, const std::function<bool()>& works);

/// The outcome of the probe with this name. If neither this process nor the store knows it, `probe` finds it now. The
/// kernels of the probe are in `file` of cl_kernels/. One thread probes at a time, and other threads wait. The
/// ops that a probe runs may ask for outcomes on the same thread. For them, a running probe has the outcome
/// "none".
dispatch::ProbeOutcome probe_outcome(runtime::DeviceState& device, const std::string& name, const char* file,
                                     const std::function<Probed()>& probe);

}  // namespace crisol::ops
