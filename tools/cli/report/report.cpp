#include "cli/report/report.h"

#include <algorithm>
#include <regex>

namespace crisol::cli::report {

namespace {

const Figure all_figures[] = {
    {"copy_gbps", "memory", "copy", "GB/s", 1},
    {"triad_gbps", "memory", "triad", "GB/s", 1},
    {"fp32_gflops", "arithmetic", "fp32", "GFLOP/s", 1},
    {"fp16_gflops", "arithmetic", "fp16", "GFLOP/s", 1},
    {"to_device_gbps", "transfer", "to the device", "GB/s", 2},
    {"pinned_to_device_gbps", "transfer", "to it, pinned", "GB/s", 2},
    {"from_device_gbps", "transfer", "from the device", "GB/s", 2},
    {"pinned_from_device_gbps", "transfer", "from it, pinned", "GB/s", 2},
    {"launch_us", "launch", "among many", "us", 2},
    {"wait_us", "launch", "waited for", "us", 2},
    {"compile_ms", "compile", "from source", "ms", 1},
    {"load_ms", "compile", "from its binary", "ms", 1},
};

// "pthread-skylake-avx512-AMD EPYC 9B45 128-Core Processor" → "AMD EPYC 9B45 128-Core". Removes words that all devices
// have, and PoCL's names for threads and targets. These words tell a reader nothing.
std::string shortened(std::string name) {
  static const std::regex pocl("^(pthread|cpu)-([a-z0-9.]+-)+(?=[A-Z])");
  name = std::regex_replace(name, pocl, "");
  for (const char* noise : {"(R)", "(TM)", "(tm)", " Processor", " CPU"})
    for (std::size_t at; (at = name.find(noise)) != std::string::npos;) name.erase(at, std::string(noise).size());
  name = name.substr(0, name.find(" @ "));
  const std::size_t last = name.find_last_not_of(' ');
  return name.substr(0, last == std::string::npos ? 0 : last + 1);
}

}  // namespace

std::span<const Figure> figures() { return all_figures; }

double Device::figure(const std::string& key) const {
  const auto found = figures.find(key);
  return found == figures.end() ? 0 : found->second;
}

double Device::bandwidth() const { return std::max(figure("copy_gbps"), figure("triad_gbps")); }

double Device::estimate_ms(const Workload& workload) const {
  const double peak = figure("fp32_gflops"), rate = bandwidth();
  if (peak <= 0 || rate <= 0) return 0;
  return 1e-6 * std::max(workload.flops / peak, workload.bytes / rate);
}

std::string label_of(const Machine& machine, const Device& device, bool several_machines) {
  std::string platform = device.platform == "Portable Computing Language" ? "PoCL" : shortened(device.platform);
  std::string label = shortened(device.name);
  // A CPU's label names the platform, because the implementations differ more than the CPUs. A GPU has only one
  // implementation.
  if (device.type == "cpu" || label.empty()) label += (label.empty() ? "" : ", ") + platform;
  return several_machines ? (machine.name.empty() ? "this machine" : machine.name) + ": " + label : label;
}

}  // namespace crisol::cli::report
