#include "cli/bench/report.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/format.h"
#include "crisol/device.h"

namespace crisol::cli::bench {

namespace {

/// A rate in 10^9 operations or bytes a second, its unit, and the peak with which it is compared.
struct Rate {
  double value = 0;
  const char* unit = "";
  double peak = 0;
};

Rate rate_of(const Result& result, const std::optional<DeviceSpeed>& speed) {
  const double per_ms = 1e-6 / result.timing.median_ms;
  if (result.work.flops > 0) return {result.work.flops * per_ms, "GFLOP/s", !speed ? 0 : speed->gflops};
  if (result.work.bytes > 0) return {result.work.bytes * per_ms, "GB/s", !speed ? 0 : speed->gbps()};
  return {};
}

std::string variants_of(const VariantLog& log) {
  std::string text;
  for (const VariantChoice& choice : log.choices())
    text += (text.empty() ? "" : ",") + choice.op + ':' + choice.variant;
  return text.empty() ? "single" : text;
}

}  // namespace

Result run(const Request& request, const Effort& effort) {
  Result result{request, {}, {}, {}};
  const Device device;
  device.release_cached_memory();
  const std::uint64_t before = device.memory_stats().in_use;
  device.reset_peak_memory();
  result.work = request.what->prepare(request.values);
  {
    const VariantLog log;
    result.work.run();
    result.variant = variants_of(log);
  }
  result.timing = measure(result.work, request.values.on("wait"), effort);
  const MemoryStats memory = device.memory_stats();
  result.peak_bytes = memory.peak - before;
  result.held_bytes = memory.in_use + memory.cached - before;
  return result;
}

nlohmann::ordered_json to_json(const Result& result, const std::optional<DeviceSpeed>& speed) {
  const Timing& timing = result.timing;
  const Rate rate = rate_of(result, speed);
  nlohmann::ordered_json json;
  json["case"] = result.request.line;
  json["keys"] = result.request.values.all();
  json["median_ms"] = timing.median_ms;
  json["min_ms"] = timing.min_ms;
  json["quartiles_ms"] = {timing.quartile_ms[0], timing.quartile_ms[1]};
  json["spread"] = timing.spread();
  json["host_ms"] = timing.host_ms;
  if (result.work.flops > 0)
    json["gflops"] = rate.value;
  else if (result.work.bytes > 0)
    json["gbps"] = rate.value;
  if (rate.peak > 0) {
    json["peak_share"] = rate.value / rate.peak;
    json[result.work.flops > 0 ? "peak_gflops" : "peak_gbps"] = rate.peak;
  }
  if (result.work.items > 0) json["items_per_second"] = 1e3 * result.work.items / timing.median_ms;
  json["peak_bytes"] = result.peak_bytes;
  json["held_bytes"] = result.held_bytes;
  json["variant"] = result.variant;
  const Device device;
  json["device"] = device.name();
  json["platform"] = device.info().platform;
  json["samples"] = timing.samples;
  json["runs_per_sample"] = timing.runs;
  return json;
}

void print_heading(std::ostream& out) {
  out << format("%-58s %12s %12s %7s %18s %6s  %s\n", "case", "median", "min", "spread", "rate", "peak", "variant");
}

void print_row(std::ostream& out, const Result& result, const std::optional<DeviceSpeed>& speed) {
  const Timing& timing = result.timing;
  const Rate rate = rate_of(result, speed);
  std::string text = "-", share = "-";
  if (rate.value > 0) text = format("%.1f %s", rate.value, rate.unit);
  if (rate.value > 0 && rate.peak > 0) share = format("%.0f %%", 100 * rate.value / rate.peak);
  out << format("%-58s %12s %12s %5.1f %% %18s %6s  ", result.request.line.c_str(), time_text(timing.median_ms).c_str(),
                time_text(timing.min_ms).c_str(), 100 * timing.spread(), text.c_str(), share.c_str())
      << result.variant;
  if (result.work.items > 0)
    out << format("  (%.0f %s/s)", 1e3 * result.work.items / timing.median_ms, result.work.item);
  if (result.work.flops == 0 && result.work.bytes == 0) out << "  (queued in " << time_text(timing.host_ms) << ')';
  out << '\n' << std::flush;
}

void print_device(std::ostream& out, const std::optional<DeviceSpeed>& speed) {
  const Device device;
  out << device.name() << " | " << device.info().platform << '\n';
  if (!speed) return;
  out << format(
      "measured: %.1f GFLOP/s, copy %.1f GB/s, triad %.1f GB/s, empty kernel %.2f us queued, %.2f us waited for\n",
      speed->gflops, speed->copy_gbps, speed->triad_gbps, speed->launch_us, speed->wait_us);
}

}  // namespace crisol::cli::bench
