// Compares two variants that ran in turn, in several rounds.
#pragma once

#include <cstddef>
#include <vector>

namespace crisol::dispatch {

/// A variant replaces the usual one under two conditions. Its median is shorter by at least 3 %, and it was slower in
/// at most one of eight rounds. The lists have the time of each round.
inline bool replaces_usual(const std::vector<double>& rounds, double median, const std::vector<double>& usual_rounds,
                           double usual_median) {
  constexpr double min_gain = 0.03;
  if (rounds.size() != usual_rounds.size() || median > (1 - min_gain) * usual_median) return false;
  std::size_t slower = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) slower += rounds[i] < usual_rounds[i] ? 0 : 1;
  return slower <= rounds.size() / 8;
}

}  // namespace crisol::dispatch
