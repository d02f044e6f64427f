// Measuring devices.
#pragma once

#include <functional>

#include "cli/report/report.h"
#include "crisol/device.h"

namespace crisol::cli::report {

/// Called before each part, with the results so far and the name of the part.
using Progress = std::function<void(const Device& so_far, const std::string& part)>;

/// Measures a device, one part after another. A part that fails is noted with its error. `quick` uses small workloads
/// and few samples.
Device measure(crisol::Device device, bool quick, const Progress& progress);

/// Measures all devices, each in a separate process if the system can fork. A driver that crashes or hangs then loses
/// only the remaining parts of its own device. Do not look for devices before the call. Throws device_not_found if
/// there are no devices.
std::vector<Device> measure_all(bool quick, const Progress& progress);

}  // namespace crisol::cli::report
