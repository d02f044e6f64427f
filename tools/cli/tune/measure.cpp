#include "cli/tune/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/text.h"
#include "cli/bench/measure.h"
#include "dispatch/first_use/rounds.h"

namespace crisol::cli::tune {

namespace {

constexpr double sample_ms = 10;
// After the first sample: a variant this many times slower than the fastest is not measured any further.
constexpr double hopeless = 1.5;
constexpr double max_reference_operations = 2e8;

/// A variant to time.
struct Runner {
  std::string variant;
  int runs;
};

double time_of(const bench::Work& work, const TuningProblem& problem, const std::string& variant, int runs) {
  const ForcedVariant forced(problem.op, variant);
  return bench::sample(work, runs).total_ms;
}

std::vector<Values> results_of(const Rerun& rerun, const TuningProblem& problem, const std::string& variant) {
  const ForcedVariant forced(problem.op, variant);
  std::vector<Values> results;
  for (const Tensor& result : rerun.run()) results.push_back(reference::values_of(result));
  return results;
}

/// The values with which a variant's results are compared.
struct Expected {
  std::vector<Values> results;
  double rounding;  ///< The number of sides that round, 1 or 2.
};

/// Returns the largest error of a variant's results, relative to the allowed error. Describes wrong results in
/// `variant.wrong`.
double check(const Rerun& rerun, const TuningProblem& problem, VariantTime& variant, const Expected& expected) {
  const std::vector<Values> got = results_of(rerun, problem, variant.variant);
  reference::Tolerance tolerance = rerun.tolerance(variant.variant);
  tolerance.factor *= expected.rounding;
  double share = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const reference::Difference found = reference::difference(got[i], expected.results[i], tolerance, DType::f32);
    if (found.allowed > 0) share = std::max(share, found.error / found.allowed);
    if (found.wrong > 0 && variant.wrong.empty())
      variant.wrong = concat(found.wrong, " of ", got[i].size(), " results, element ", found.worst, " is ",
                             got[i][found.worst], " instead of ", expected.results[i][found.worst]);
  }
  return share;
}

bool is_better(const VariantTime& a, const VariantTime& usual) {
  return dispatch::replaces_usual(a.rounds_ms, a.median_ms, usual.rounds_ms, usual.median_ms);
}

/// The time of one run after a run that compiles. A variant that is far too slow in that first run gets no second run.
double first_time(const bench::Work& work, const TuningProblem& problem, const std::string& variant, double fastest) {
  constexpr double compiling_ms = 5000;
  const double first = time_of(work, problem, variant, 1);
  if (first > compiling_ms + hopeless * fastest) return first;
  const double second = time_of(work, problem, variant, 1);
  return second > 2 * fastest ? second : std::min(second, time_of(work, problem, variant, 1));
}

/// Compiles and warms up every variant, then takes the samples.
std::vector<VariantTime> time_all(const bench::Work& work, const TuningProblem& problem, int rounds) {
  std::vector<VariantTime> times;
  std::vector<Runner> runners;
  double fastest = HUGE_VAL;
  for (const std::string& variant : accepting(problem)) {
    const double once = first_time(work, problem, variant, fastest);
    times.push_back({variant, {once}, once, {}, {}});
    runners.push_back({variant, std::max(1, static_cast<int>(sample_ms / once + 0.999))});
    fastest = std::min(fastest, once);
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (i == 0 || times[i].median_ms <= hopeless * fastest) kept.push_back(i);
  for (const std::size_t i : kept) times[i].rounds_ms.clear();
  for (int round = 0; round < rounds; ++round)
    for (const std::size_t i : kept)
      times[i].rounds_ms.push_back(time_of(work, problem, runners[i].variant, runners[i].runs));
  for (const std::size_t i : kept) times[i].median_ms = bench::median_of(times[i].rounds_ms);
  return times;
}

}  // namespace

TuningProblem meet(const Rerun& rerun, const Problem& problem) {
  const ProblemLog log;
  rerun.run();
  std::string met;
  for (const TuningProblem& found : log.problems()) {
    if (found.text == problem.text) return found;
    if (found.op == problem.op) met = found.text;
  }
  throw rerun::ProblemError(concat("'", problem.text, "' cannot be made again: it becomes '", met, "'"));
}

std::vector<std::string> accepting(const TuningProblem& problem) {
  std::vector<std::string> variants;
  for (const TuningCandidate& candidate : problem.candidates)
    if (candidate.refusal.empty()) variants.push_back(candidate.variant);
  return variants;
}

Measured measure(const Rerun& rerun, const TuningProblem& problem, const Effort& effort) {
  bench::Work work;
  work.run = [&] { rerun.run(); };
  if (!effort.kept) work.renew = rerun.renew;
  Measured measured{problem, problem.times, time_all(work, problem, effort.rounds), 0, {}};

  std::vector<std::size_t> order(measured.variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return measured.variants[a].median_ms < measured.variants[b].median_ms;
  });
  std::optional<Expected> expected;
  for (const std::size_t i : order) {
    VariantTime& variant = measured.variants[i];
    const bool wanted = measured.best == 0 && is_better(variant, measured.usual());
    if (!wanted && !effort.check_all) continue;
    if (!expected) {
      const bool by_reference = rerun.reference && rerun.operations <= max_reference_operations;
      expected = by_reference ? Expected{rerun.reference(), 1}
                              : Expected{results_of(rerun, problem, measured.usual().variant), 2};
      measured.checked_against = by_reference ? "the reference" : measured.usual().variant;
    }
    variant.share_of_bound = check(rerun, problem, variant, *expected);
    if (wanted && variant.wrong.empty()) measured.best = i;
  }
  return measured;
}

}  // namespace crisol::cli::tune
