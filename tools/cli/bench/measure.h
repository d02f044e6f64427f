// Timing.
#pragma once

#include "cli/bench/case.h"
#include "crisol/profile.h"

namespace crisol::cli::bench {

struct Effort {
  int repeat = 0;      ///< The number of samples, or 0 for as many as fit into `seconds`.
  double seconds = 1;  ///< Total sampling time; at least 5 samples are taken.
};

/// Milliseconds of one run.
struct Timing {
  double median_ms = 0, min_ms = 0;
  double quartile_ms[2] = {0, 0};  ///< A quarter of the samples is below the first, a quarter above the second.
  double host_ms = 0;              ///< The median of the time until everything was queued.
  int samples = 0;
  int runs = 0;  ///< Runs in one sample.

  /// The distance between the quartiles, relative to the median.
  double spread() const noexcept { return (quartile_ms[1] - quartile_ms[0]) / median_ms; }
};

/// The time of one run, from several runs in a row. The device is idle before the first run and has finished when the
/// clock stops.
struct Sample {
  double total_ms, host_ms;  ///< The times of one run. host_ms is the time until everything was queued.
};
Sample sample(const Work& work, int runs);

/// The middle value, or the mean of the two middle values.
double median_of(std::vector<double> values);

/// Runs until everything is compiled and warm, then takes samples. One sample repeats the run for about 5 ms; with
/// `wait` a sample is one run. The device is idle before a sample and has finished when the clock stops. The inputs are
/// the same in every run, so data that fits into the caches stays there.
Timing measure(const Work& work, bool wait, const Effort& effort);

/// Makes PoCL keep each of its threads on its own core. Otherwise two threads sometimes share a core for a while. Call
/// this before the first search for devices.
void pin_threads();

}  // namespace crisol::cli::bench
