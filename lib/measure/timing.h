// Timing of the probes of a device's speed.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/memory/transfer.h"

namespace crisol::runtime {

constexpr double sample_seconds = 0.01;

/// The seconds of one run, from `times` runs in a row and a wait for the device at the end.
template <class Run>
double seconds_of(DeviceState& device, int times, const Run& run) {
  finish(device);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) run();
  finish(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

/// The shortest of several samples. Each sample has as many runs as are needed for a measurable time. Several samples
/// are taken because the system needs a while to give each thread of a CPU device its own core.
template <class Run>
double best_seconds(DeviceState& device, const Run& run) {
  constexpr int samples = 6;
  seconds_of(device, 1, run);  // The first run compiles, and touches the memory.
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
