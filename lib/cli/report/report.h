// What `crisol report` finds out about the devices of one machine, and of several.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace crisol::cli::report {

/// One figure of a device.
struct Figure {
  const char* key;    ///< In JSON and in DeviceReport::figures.
  const char* group;  ///< The line of the table that it belongs to.
  const char* title;
  const char* unit;
  int decimals;
};

/// All figures, in the order in which they are shown.
std::span<const Figure> figures();

/// A network or layer that was timed.
struct Workload {
  std::string title, line;      ///< "SimpleCNN, training, 64 images"; the case of `crisol bench`.
  double flops = 0, bytes = 0;  ///< Of one run: operations, and bytes at least.
  double items = 0;             ///< Of one run.
  std::string item;             ///< "images"
  double median_ms = 0;         ///< 0 when it was not run,
  std::string left_out;         ///< and why.

  double per_second() const { return 1e3 * items / median_ms; }
  double gflops() const { return 1e-6 * flops / median_ms; }
};

struct Failure {
  std::string part, error;
};

struct Device {
  std::string name, platform, driver, type;
  std::uint64_t memory = 0;               ///< Bytes.
  std::map<std::string, double> figures;  ///< By key; one that is missing was not measured or is not there.
  std::vector<Workload> workloads;
  std::vector<Failure> failures;

  /// The figure, or 0.
  double figure(const std::string& key) const;
  /// 10^9 bytes a second of memory: copy or triad, whichever is more; 0 when neither was measured.
  double bandwidth() const;
  /// The roofline's time: operations at the fp32 peak or bytes at the bandwidth, whichever takes longer; 0 when either
  /// is unknown.
  double estimate_ms(const Workload& workload) const;
};

struct Machine {
  std::string name;  ///< Empty: the one that it is shown on.
  std::string date;  ///< 2026-11-21
  std::string crisol;
  bool quick = false;  ///< Measured in haste, for tests.
  std::vector<Device> devices;
};

/// The part before the trademark signs and clock rates, with the platform: short enough for a chart.
std::string label_of(const Machine& machine, const Device& device, bool several_machines);

/// Reads a file that `--json` wrote; a machine without a name gets the file's. Throws io for a file that cannot be
/// read, is not a report, or is one of a later version.
std::vector<Machine> read_file(const std::string& path);
/// The JSON text that read_file reads.
std::string to_json(const std::vector<Machine>& machines);

/// A device alone, in one line, and back.
std::string to_json(const Device& device);
Device device_from_json(const std::string& text);

}  // namespace crisol::cli::report
