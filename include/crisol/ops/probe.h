// Probes: small programs that find out what a device can do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisol/device.h"

namespace crisol::ops {

/// The result of a probe.
struct ProbeResult {
  std::string name;    ///< The name that assume_probes() takes.
  std::string found;   ///< The ability of the device that the probe found, or "none".
  std::string reason;  ///< Why `found` is "none".
};

/// The results of all probes for a device. Runs the probes that have no stored result for its driver.
CRISOL_API std::vector<ProbeResult> probe_results(Device device = Device());

/// Gives this process the results of all probes for a device, so that no probe runs. Tools use it to look at programs
/// for a device that is not present. `found` maps the name of a probe to its result. A probe that is left out has the
/// result "none". The names and results are:
///
///   matrix_tf32, matrix_fp16, matrix_bf16   a unit as matrix_units() names it
///   pairs                                   "tdpbssd", "vpdpwssd" or "pmaddwd": instructions of x86 that multiply
///                                           bytes, or pairs of 16 bits
///   bytes                                   "vpdpbusd": an instruction of x86 that multiplies 64 bytes;
///                                           "vpdpbusd_gfni" if the processor also has GFNI and AVX-512 VBMI2
///   shuffle                                 "nvidia": its instruction shfl.sync, by inline PTX
///
/// Throws invalid_argument for an unknown probe, and for a result that the probe cannot have.
CRISOL_API void assume_probes(Device device, const std::map<std::string, std::string>& found);

}  // namespace crisol::ops
