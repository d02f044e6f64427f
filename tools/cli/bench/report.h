// The results of measurements, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/bench/measure.h"

namespace crisol::cli::bench {

struct Result {
  Request request;
  std::string variant;  ///< "op:variant" of every choice, separated by commas; "single" if there was no choice.
  Work work;
  Timing timing;
  std::uint64_t peak_bytes = 0;  ///< The peak of device memory in use, operands and parameters included.
  std::uint64_t held_bytes = 0;  ///< Memory allocated from OpenCL at the end, including blocks that are kept for reuse.
};

/// Prepares, runs and times a request on the default device.
Result run(const Request& request, const Effort& effort);

/// Contains median_ms, min_ms, spread, gflops or gbps, peak_share, variant, device and more. The shares need the
/// measured speed of the device and are left out without it.
nlohmann::ordered_json to_json(const Result& result, const std::optional<DeviceSpeed>& speed);

/// One line of the table; print_heading gives the line above the first.
void print_heading(std::ostream& out);
void print_row(std::ostream& out, const Result& result, const std::optional<DeviceSpeed>& speed);
/// The device and its measured peaks.
void print_device(std::ostream& out, const std::optional<DeviceSpeed>& speed);

}  // namespace crisol::cli::bench
