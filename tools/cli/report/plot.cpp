#include "cli/report/plot.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/format.h"
#include "cli/report/show.h"

namespace crisol::cli::report {

namespace {

constexpr double width = 480, height = 340;
constexpr double left = 48, right = 22, top = 12, bottom = 40;

std::string rounded(double value) { return format("%.1f", value); }

/// A logarithmic axis between powers of ten.
class Axis {
 public:
  Axis(double least, double most, double from, double to)
      : first_(std::floor(std::log10(least))), last_(std::ceil(std::log10(most))), from_(from), to_(to) {
    if (last_ <= first_) last_ = first_ + 1;
  }

  double at(double value) const { return from_ + (to_ - from_) * (std::log10(value) - first_) / (last_ - first_); }
  double least() const { return std::pow(10, first_); }
  double most() const { return std::pow(10, last_); }
  int first() const { return static_cast<int>(first_); }
  int last() const { return static_cast<int>(last_); }

 private:
  double first_, last_, from_, to_;
};

struct Point {
  double intensity, gflops;
};

bool has_roof(const Roof& roof) { return roof.device->figure("fp32_gflops") > 0 && roof.device->bandwidth() > 0; }

Point point_of(const Workload& workload) { return {workload.flops / workload.bytes, workload.gflops()}; }

bool was_run(const Workload& workload) { return workload.median_ms > 0 && workload.bytes > 0 && workload.flops > 0; }

/// All points that the axes must show.
std::vector<Point> all_points(const std::vector<Roof>& roofs) {
  std::vector<Point> points;
  for (const Roof& roof : roofs) {
    if (!has_roof(roof)) continue;
    const double peak = roof.device->figure("fp32_gflops"), ridge = peak / roof.device->bandwidth();
    points.push_back({ridge * 3, peak * 1.2});
    points.push_back({ridge / 3, peak / 3});
    for (const Workload& workload : roof.device->workloads)
      if (was_run(workload)) points.push_back(point_of(workload));
  }
  return points;
}

std::string sign(std::size_t n, double x, double y, const std::string& css_class) {
  const std::string at =
      concat(" class=\"", css_class, "\" transform=\"translate(", rounded(x), ' ', rounded(y), ")\"");
  switch (n % 4) {
    case 0: return concat("<circle r=\"5\"", at, "/>");
    case 1: return concat("<path d=\"M-4.5-4.5h9v9h-9z\"", at, "/>");
    case 2: return concat("<path d=\"M0-6 5.5 4.5h-11z\"", at, "/>");
    default: return concat("<path d=\"M0-6 6 0 0 6-6 0z\"", at, "/>");
  }
}

std::string power_of_ten(int exponent) {
  if (exponent < 0) return concat("0.", std::string(static_cast<std::size_t>(-exponent - 1), '0'), '1');
  if (exponent < 4) return concat('1', std::string(static_cast<std::size_t>(exponent), '0'));
  return concat("10<tspan dy=\"-4\" font-size=\"9\">", exponent, "</tspan>");
}

std::string grid(const Axis& x, const Axis& y) {
  std::string svg;
  for (int power = x.first(); power <= x.last(); ++power) {
    const std::string at = rounded(x.at(std::pow(10, power)));
    svg += concat("<path class=\"grid\" d=\"M", at, ' ', top, 'V', height - bottom, "\"/><text x=\"", at, "\" y=\"",
                  height - bottom + 15, "\" text-anchor=\"middle\">", power_of_ten(power), "</text>\n");
  }
  for (int power = y.first(); power <= y.last(); ++power) {
    const std::string at = rounded(y.at(std::pow(10, power)));
    svg += concat("<path class=\"grid\" d=\"M", left, ' ', at, 'H', width - right, "\"/><text x=\"", left - 6,
                  "\" y=\"", at, "\" dy=\"4\" text-anchor=\"end\">", power_of_ten(power), "</text>\n");
  }
  return svg + concat("<text x=\"", (left + width - right) / 2, "\" y=\"", height - 6,
                      "\" text-anchor=\"middle\">operations a byte</text>\n<text transform=\"translate(11 ",
                      (top + height - bottom) / 2, ") rotate(-90)\" text-anchor=\"middle\">GFLOP/s</text>\n");
}

std::string roof_of(const Roof& roof, std::size_t number, const Axis& x, const Axis& y) {
  const double peak = roof.device->figure("fp32_gflops"), rate = roof.device->bandwidth();
  const double start = std::max(x.least(), y.least() / rate), ridge = peak / rate;
  std::string svg = concat("<path class=\"roof c", number % 8, "\" d=\"M", rounded(x.at(start)), ' ',
                           rounded(y.at(rate * start)), 'L', rounded(x.at(ridge)), ' ', rounded(y.at(peak)), 'H',
                           width - right, "\"><title>", escaped(roof.label), "</title></path>\n");
  for (std::size_t i = 0; i < roof.device->workloads.size(); ++i) {
    const Workload& workload = roof.device->workloads[i];
    if (!was_run(workload)) continue;
    const Point point = point_of(workload);
    svg += concat("<g><title>", escaped(roof.label), ": ", escaped(workload.title), ", ", number_text(point.gflops, 1),
                  " GFLOP/s</title>", sign(i, x.at(point.intensity), y.at(point.gflops), concat("sign c", number % 8)),
                  "</g>\n");
  }
  return svg;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string workload_sign(std::size_t n) {
  return concat("<svg class=\"legend\" viewBox=\"-8 -8 16 16\" width=\"14\" height=\"14\" aria-hidden=\"true\">",
                sign(n, 0, 0, "sign"), "</svg>");
}

std::string bar(double part, const std::string& css_class) {
  return concat("<svg class=\"bar ", css_class, "\" width=\"100%\" height=\"12\" aria-hidden=\"true\"><rect width=\"",
                rounded(100 * std::clamp(part, 0.0, 1.0)), "%\" height=\"12\"/></svg>");
}

std::string roofline(const std::vector<Roof>& roofs) {
  const std::vector<Point> points = all_points(roofs);
  if (points.empty()) return {};
  const auto [min_x, max_x] =
      std::minmax_element(points.begin(), points.end(), [](Point a, Point b) { return a.intensity < b.intensity; });
  const auto [min_y, max_y] =
      std::minmax_element(points.begin(), points.end(), [](Point a, Point b) { return a.gflops < b.gflops; });
  const Axis x(min_x->intensity, max_x->intensity, left, width - right);
  const Axis y(min_y->gflops, max_y->gflops, height - bottom, top);
  std::string svg = concat("<svg class=\"plot\" viewBox=\"0 0 ", width, ' ', height,
                           "\" role=\"img\" aria-label=\"Roofline of each device, with the workloads\">\n", grid(x, y));
  for (std::size_t i = 0; i < roofs.size(); ++i)
    if (has_roof(roofs[i])) svg += roof_of(roofs[i], i, x, y);
  return svg + "</svg>\n";
}

}  // namespace crisol::cli::report
