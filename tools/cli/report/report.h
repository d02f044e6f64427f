// The data of `crisol report` about the devices of one machine or of several machines.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace crisol::cli::report {

/// One figure of a device.
struct Figure {
  const char* key;    ///< The key in JSON and in Device::figures.
  const char* group;  ///< The table row of this figure.
  const char* title;
  const char* unit;
  int decimals;
};

/// All figures, in the order in which they are shown.
std::span<const Figure> figures();

/// A network or layer that was timed.
struct Workload {
  std::string title, line;      ///< "SimpleCNN, training, 64 images"; the case for `crisol bench`.
  double flops = 0, bytes = 0;  ///< The operations of one run, and the least number of bytes that it moves.
  double items = 0;             ///< Items in one run.
  std::string item;             ///< The name of an item, for example "images".
  double median_ms = 0;         ///< 0 if it was not run.
  std::string left_out;         ///< The reason why it was not run.

  double per_second() const { return 1e3 * items / median_ms; }
  double gflops() const { return 1e-6 * flops / median_ms; }
};

struct Failure {
  std::string part, error;
};

/// A problem that `crisol tune`, or tuning at first use, stored for the device.
struct TunedProblem {
  std::string problem, variant, usual;
  double ms = 0, usual_ms = 0;  ///< 0 if it was met without time to measure it.

  double gain() const { return ms > 0 ? usual_ms / ms : 1; }
};

struct Device {
  std::string name, platform, driver, type;
  std::uint64_t memory = 0;  ///< Bytes.
  std::map<std::string, double>
      figures;  ///< The figures by their keys. A missing figure was not measured or does not exist.
  std::vector<Workload> workloads;
  std::vector<Failure> failures;
  std::vector<TunedProblem> tuned;

  /// The figure, or 0.
  double figure(const std::string& key) const;
  /// The memory's bandwidth in 10^9 bytes a second: copy or triad, whichever is larger. It is 0 if neither was
  /// measured.
  double bandwidth() const;
  /// The time that the roofline predicts: operations at the fp32 peak or bytes at the bandwidth, whichever takes
  /// longer. It is 0 if either number is unknown.
  double estimate_ms(const Workload& workload) const;
};

struct Machine {
  std::string name;  ///< Empty for the machine that shows the report.
  std::string date;  ///< 2026-11-21
  std::string crisol;
  bool quick = false;  ///< Measured quickly, for tests.
  std::vector<Device> devices;
};

/// A short label for charts: the name up to trademark signs and clock rates, with the platform.
std::string label_of(const Machine& machine, const Device& device, bool several_machines);

/// Reads a file that `--json` wrote. A machine without a name gets the name of the file. Throws io if the file cannot
/// be read, is not a report, or has a later version.
std::vector<Machine> read_file(const std::string& path);
/// The JSON text that read_file reads.
std::string to_json(const std::vector<Machine>& machines);

/// Writes one device as a line, and reads it back.
std::string to_json(const Device& device);
Device device_from_json(const std::string& text);

}  // namespace crisol::cli::report
