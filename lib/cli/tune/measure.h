// Timing the variants of a problem against each other, and checking the best one's numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisol/tuning.h"
#include "replay/replay.h"

namespace crisol::cli::tune {

using replay::Problem, replay::Replay, replay::Values;

struct Effort {
  int rounds = 9;          ///< Each takes a sample of every variant.
  bool kept = false;       ///< Weights stay as they are between runs.
  bool check_all = false;  ///< Look at the numbers of every variant, not only of those that could be stored.
};

struct VariantTime {
  std::string variant;
  std::vector<double> rounds_ms;  ///< Of one run, a value for each round; a single one where it was too slow for more.
  double median_ms = 0;
  std::optional<double> share_of_bound;  ///< The largest error, as a part of what rounding may do; if anybody looked.
  std::string wrong;                     ///< What is wrong with the numbers; empty where nothing is, or nobody looked.
};

struct Measured {
  TuningProblem problem;
  std::int64_t times = 1;
  std::vector<VariantTime> variants;  ///< The usual one first.
  std::size_t best = 0;               ///< Position of what should be used: of the usual one where no other is better.
  std::string checked_against;        ///< "the reference", or a variant's name; empty where nothing was checked.

  const VariantTime& usual() const { return variants.front(); }
  const VariantTime& winner() const { return variants[best]; }
};

/// A variant takes the usual one's place when its median is at least this part shorter, and when it was faster in all
/// rounds but one in eight.
constexpr double least_gain = 0.03;

/// Runs the replay once and returns the problem that it met, with its candidates; throws replay::ProblemError where it
/// is not the one that was asked for.
TuningProblem meet(const Replay& replay, const Problem& problem);

/// The candidates that take the problem; fewer than two leave nothing to measure.
std::vector<std::string> accepting(const TuningProblem& problem);

Measured measure(const Replay& replay, const TuningProblem& problem, const Effort& effort);

}  // namespace crisol::cli::tune
