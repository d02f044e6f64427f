// Times the variants of a problem against each other, and checks the results of the best variant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisol/tuning.h"
#include "rerun/rerun.h"

namespace crisol::cli::tune {

using rerun::Problem, rerun::Rerun, rerun::Values;

struct Effort {
  int rounds = 9;          ///< Each takes a sample of every variant.
  bool kept = false;       ///< True if weights stay unchanged between runs, so that packed copies are reused.
  bool check_all = false;  ///< Check the results of every variant, not only of variants that could be stored.
};

struct VariantTime {
  std::string variant;
  std::vector<double> rounds_ms;  ///< The time of one run in each round; only one value if the variant is too slow.
  double median_ms = 0;
  std::optional<double> share_of_bound;  ///< The largest error as a part of the allowed error; absent if not checked.
  std::string wrong;                     ///< Describes wrong results; empty if there are none or nothing was checked.
};

struct Measured {
  TuningProblem problem;
  std::int64_t times = 1;
  std::vector<VariantTime> variants;  ///< The usual one first.
  std::size_t best = 0;               ///< The position of the variant to use: the usual variant if no other is better.
  std::string checked_against;        ///< "the reference", or the name of a variant; empty if nothing was checked.

  const VariantTime& usual() const { return variants.front(); }
  const VariantTime& winner() const { return variants[best]; }
};

/// Runs the rerun once and returns the problem that occurred, with its candidates. Throws rerun::ProblemError if this
/// is not the requested problem.
TuningProblem meet(const Rerun& rerun, const Problem& problem);

/// The candidates that accept the problem. With fewer than two there is nothing to measure.
std::vector<std::string> accepting(const TuningProblem& problem);

Measured measure(const Rerun& rerun, const TuningProblem& problem, const Effort& effort);

}  // namespace crisol::cli::tune
