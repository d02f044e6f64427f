// The drawings of the report's page, as SVG. The SVG uses the colours of the page's style.
#pragma once

#include <string>
#include <vector>

#include "cli/report/report.h"

namespace crisol::cli::report {

/// Escapes text for HTML and SVG.
std::string escaped(const std::string& text);

/// A device of the roofline. Its index selects the colour.
struct Roof {
  std::string label;
  const Device* device;
};

/// Draws one line for each device: the rate it can reach at an intensity (operations a byte). Both axes are
/// logarithmic. The workloads are drawn with the rates they reached. Devices without a peak or a bandwidth are left
/// out.
std::string roofline(const std::vector<Roof>& roofs);

/// The sign of workload number n in the roofline, drawn alone for a legend.
std::string workload_sign(std::size_t n);

/// A bar that fills a part, 0 to 1, of its width.
std::string bar(double part, const std::string& css_class);

}  // namespace crisol::cli::report
