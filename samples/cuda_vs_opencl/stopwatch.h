// The clock that all sides use.
#pragma once

#include <algorithm>
#include <chrono>

namespace twins {

/// Times some rounds of `run` and `wait`; returns the shortest in milliseconds. The first round compiles and does not
/// count.
template <class Run, class Wait>
double shortest_ms(const Run& run, const Wait& wait) {
  constexpr int rounds = 5;
  double best = 0;
  for (int round = 0; round <= rounds; ++round) {
    wait();
    const auto start = std::chrono::steady_clock::now();
    run();
    wait();
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    best = round <= 1 ? ms : std::min(best, ms);
  }
  return best;
}

}  // namespace twins
