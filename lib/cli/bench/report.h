// What was measured, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/bench/measure.h"

namespace crisol::cli::bench {

struct Result {
  Request request;
  std::string variant;  ///< "op:variant" of every choice, by commas; "single" where there was none to make.
  Work work;
  Timing timing;
  std::uint64_t peak_bytes = 0;  ///< Of device memory, operands and parameters included.
  std::uint64_t held_bytes = 0;  ///< Taken from OpenCL at the end, with what is kept for reuse.
};

/// Prepares, runs and times a request on the default device.
Result run(const Request& request, const Effort& effort);

/// median_ms, min_ms, spread, gflops or gbps, peak_share, variant, device and more. Shares need the device's measured
/// speed; without it they are left out.
nlohmann::ordered_json to_json(const Result& result, const std::optional<DeviceSpeed>& speed);

/// One line of the table; print_heading gives the line above the first.
void print_heading(std::ostream& out);
void print_row(std::ostream& out, const Result& result, const std::optional<DeviceSpeed>& speed);
/// The device and what it reaches at best.
void print_device(std::ostream& out, const std::optional<DeviceSpeed>& speed);

}  // namespace crisol::cli::bench
