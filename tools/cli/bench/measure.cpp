#include "cli/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "crisol/device.h"

namespace crisol::cli::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double sample_ms = 5;
constexpr double warm_up_ms = 100;
constexpr int min_samples = 5, max_samples = 10000;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Compiles, then runs for a while until clocks, caches and the pools of memory and threads settle. Returns the time of
// one run.
double warm_up(const Work& work) {
  sample(work, 1);
  const auto start = Clock::now();
  double last = sample(work, 1).total_ms;
  while (ms_since(start) < warm_up_ms) last = sample(work, std::max(1, static_cast<int>(sample_ms / last))).total_ms;
  return last;
}

}  // namespace

Sample sample(const Work& work, int runs) {
  const auto start = Clock::now();
  for (int i = 0; i < runs; ++i) {
    if (work.renew) work.renew();
    work.run();
  }
  const double host = ms_since(start);
  synchronize();
  return {ms_since(start) / runs, host / runs};
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Timing measure(const Work& work, bool wait, const Effort& effort) {
  const double once = warm_up(work);
  Timing timing;
  timing.runs = wait ? 1 : std::max(1, static_cast<int>(sample_ms / once + 0.999));
  std::vector<double> totals, hosts;
  const auto start = Clock::now();
  const auto enough = [&] {
    const int taken = static_cast<int>(totals.size());
    if (effort.repeat > 0) return taken >= effort.repeat;
    return taken >= max_samples || (taken >= min_samples && ms_since(start) >= 1e3 * effort.seconds);
  };
  while (!enough()) {
    const Sample taken = sample(work, timing.runs);
    totals.push_back(taken.total_ms);
    hosts.push_back(taken.host_ms);
  }
  std::sort(totals.begin(), totals.end());
  timing.samples = static_cast<int>(totals.size());
  timing.min_ms = totals.front();
  timing.median_ms = quantile(totals, 0.5);
  timing.quartile_ms[0] = quantile(totals, 0.25);
  timing.quartile_ms[1] = quantile(totals, 0.75);
  timing.host_ms = median_of(std::move(hosts));
  return timing;
}

void pin_threads() {
#ifndef _WIN32
  constexpr int keep_what_is_set = 0;
  setenv("POCL_AFFINITY", "1", keep_what_is_set);
#endif
}

}  // namespace crisol::cli::bench
