// The drawings of the report's page, as SVG that takes its colours from the page's style.
#pragma once

#include <string>
#include <vector>

#include "cli/report/report.h"

namespace crisol::cli::report {

/// Text as it may stand in HTML and SVG.
std::string escaped(const std::string& text);

/// A device of the roofline, in the colour of its number.
struct Roof {
  std::string label;
  const Device* device;
};

/// Lines of what each device can reach at an intensity (operations a byte), both axes logarithmic, and the workloads as
/// they ran. Devices without a peak or a bandwidth are left out.
std::string roofline(const std::vector<Roof>& roofs);

/// The sign of the n-th workload in the roofline, alone, for a legend.
std::string workload_sign(std::size_t n);

/// A bar of a part, 0 to 1, of the width it is given.
std::string bar(double part, const std::string& css_class);

}  // namespace crisol::cli::report
