// Measuring devices.
#pragma once

#include <functional>

#include "cli/report/report.h"
#include "crisol/device.h"

namespace crisol::cli::report {

/// Hears of each part before it begins, with what is known by then.
using Progress = std::function<void(const Device& so_far, const std::string& part)>;

/// Everything of a device, one part after another; a part that fails is noted with its error. `quick` takes small
/// workloads and few samples.
Device measure(crisol::Device device, bool quick, const Progress& progress);

/// All devices, each in a process of its own where the system can fork: a driver that crashes or hangs costs the rest
/// of its own device alone. Nobody may have asked for devices before. Throws device_not_found where there are none.
std::vector<Device> measure_all(bool quick, const Progress& progress);

}  // namespace crisol::cli::report
