// What a device is found to do by trying: asked once in a process, remembered beside the cached programs.
#pragma once

#include <functional>
#include <string>

#include "dispatch/stored/probe_store.h"
#include "runtime/launch.h"

namespace crisol::ops {

struct Probed {
  dispatch::ProbeOutcome outcome;
  bool lasting = true;  ///< Not where it may come from want of memory or the like.
};

/// `what` where it works; else why not: that it gives wrong numbers, or the first line of what it throws.
Probed probe_one(const char* what, const std::function<bool()>& works);

/// The outcome of the probe of that name: known in this process, stored, or found now by `probe`, whose kernels are in
/// `file` of cl_kernels/. One thread probes at a time, and other threads wait. The ops that a probe runs may ask for
/// outcomes of probes on the same thread. A probe that is running has the outcome "none" for them.
dispatch::ProbeOutcome probe_outcome(runtime::DeviceState& device, const std::string& name, const char* file,
                                     const std::function<Probed()>& probe);

}  // namespace crisol::ops
