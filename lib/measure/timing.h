// How the probes of a device's speed take their times.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/transfer.h"

namespace crisol::runtime {

constexpr double sample_seconds = 0.01;

/// Seconds of one of `times` runs, waiting for the device at the end.
template <class Run>
double seconds_of(DeviceState& device, int times, const Run& run) {
  finish(device);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) run();
  finish(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

/// The shortest of several samples, each of as many runs as take long enough to measure. Several, because it takes the
/// system a while to give each of a CPU device's threads a core.
template <class Run>
double best_seconds(DeviceState& device, const Run& run) {
  constexpr int samples = 6;
  seconds_of(device, 1, run);  // Compiles, and touches the memory.
  int times = 1;
  double best = seconds_of(device, times, run);
  while (best * times < sample_seconds / 2) {
    times *= 4;
    best = seconds_of(device, times, run);
  }
  for (int sample = 0; sample < samples && best < 10 * sample_seconds; ++sample)
    best = std::min(best, seconds_of(device, times, run));
  return best;
}

}  // namespace crisol::runtime
