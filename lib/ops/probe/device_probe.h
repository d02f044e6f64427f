// Probes try what a device can do. Each probe runs once in a process, and its outcome is stored beside the
// cached programs.
#pragma once

#include <functional>
#include <string>

#include "dispatch/stored/probe_store.h"
#include "runtime/launch.h"

namespace crisol::ops {

struct Probed {
  dispatch::ProbeOutcome outcome;
  bool lasting = true;  ///< False if the outcome may come from a lack of memory or the like.
};

/// The outcome `what` if it works. Otherwise the reason: that it gives wrong numbers, or the first line of its error.
Probed probe_one(const char* what, const std::function<bool()>& works);

/// The outcome of the probe with this name. If neither this process nor the store knows it, `probe` finds it now. The
/// kernels of the probe are in `file` of cl_kernels/. One thread probes at a time, and other threads wait. The ops that
/// a probe runs may ask for outcomes of probes on the same thread. A probe that is running has the outcome "none" for
/// them.
dispatch::ProbeOutcome probe_outcome(runtime::DeviceState& device, const std::string& name, const char* file,
                                     const std::function<Probed()>& probe);

}  // namespace crisol::ops
