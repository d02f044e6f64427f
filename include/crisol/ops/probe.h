// What devices are found to do by trying.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisol/device.h"

namespace crisol::ops {

/// What a probe came to.
struct ProbeResult {
  std::string name;    ///< As assume_probes() names it.
  std::string found;   ///< "none", or what works.
  std::string reason;  ///< Why nothing, where that is so.
};

/// What all probes find on the device: those that nobody has run yet with its driver are run now.
CRISOL_API std::vector<ProbeResult> probe_results(Device device = Device());

/// Lets this process take for granted what probes find on the device, instead of running them there: for tools that
/// look at programs for devices that are not there. By the probe's name what it finds; those left out find nothing:
///
///   matrix_tf32, matrix_fp16, matrix_bf16   a unit as matrix_units() names it
///   shuffle                                 "nvidia": its instruction shfl.sync, by inline PTX
///
/// Throws invalid_argument for a probe that does not exist, or one that cannot find that.
CRISOL_API void assume_probes(Device device, const std::map<std::string, std::string>& found);

}  // namespace crisol::ops
