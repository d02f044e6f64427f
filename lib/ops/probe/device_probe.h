// What a device is found to do by trying: asked once in a process, remembered beside the cached programs.
#pragma once

#include <functional>
#include <string>

#include "dispatch/stored/probe_store.h"
#include "runtime/launch.h"

namespace crisol::ops {

struct Probed {
  runtime::ProbeOutcome outcome;
  bool lasting = true;  ///< Not where it may come from want of memory or the like.
};

/// `what` where it works; else why not: that it gives wrong numbers, or the first line of what it throws.
Probed probe_one(const char* what, const std::function<bool()>& works);

/// What the probe of that name finds; where that is neither known nor stored, `probe` is run, whose kernels are those
/// of `file` of cl_kernels/. One question at a time; others wait for its answer, so it must not lead to another.
runtime::ProbeOutcome probe_outcome(runtime::DeviceState& device, const std::string& name, const char* file,
                                    const std::function<Probed()>& probe);

}  // namespace crisol::ops
