// Timing.
#pragma once

#include "cli/bench/case.h"
#include "crisol/profile.h"

namespace crisol::cli::bench {

struct Effort {
  int repeat = 0;      ///< Samples; 0: as many as fit into `seconds`.
  double seconds = 1;  ///< Of sampling, at least 5 samples.
};

/// Milliseconds of one run.
struct Timing {
  double median_ms = 0, min_ms = 0;
  double quartile_ms[2] = {0, 0};  ///< A quarter of the samples is below the first, a quarter above the second.
  double host_ms = 0;              ///< Median of the time until everything was queued.
  int samples = 0;
  int runs = 0;  ///< Of one sample.

  /// Distance of the quartiles as a part of the median.
  double spread() const noexcept { return (quartile_ms[1] - quartile_ms[0]) / median_ms; }
};

/// The time of runs, one after another, with the device idle before and waited for at the end.
struct Sample {
  double total_ms, host_ms;  ///< Of one run; host_ms until everything was queued.
};
Sample sample(const Work& work, int runs);

/// Neither half of the values is below it.
double median_of(std::vector<double> values);

/// Runs until everything is compiled and warm, then takes samples: each as many runs, one after another, as take 5 ms,
/// with the device idle before and waited for at the end. With `wait` a sample is one run. The inputs are the same in
/// every run: what fits into the caches stays there.
Timing measure(const Work& work, bool wait, const Effort& effort);

/// PoCL then keeps its threads each on a core of its own, instead of now and then two on one for a while. To be called
/// before anybody looks at the devices.
void pin_threads();

}  // namespace crisol::cli::bench
