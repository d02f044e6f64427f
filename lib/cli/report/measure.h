// Measuring one device.
#pragma once

#include <functional>

#include "cli/report/report.h"
#include "crisol/device.h"

namespace crisol::cli::report {

/// Everything of a device, one part after another; a part that fails is noted with its error. `quick` takes small
/// workloads and few samples. `progress` hears of each part before it begins.
Device measure(crisol::Device device, bool quick, const std::function<void(const std::string&)>& progress);

}  // namespace crisol::cli::report
