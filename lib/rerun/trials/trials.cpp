// Reruns as trials of variants, for dispatch. Programs that link reruns beside the library do without this folder.
#include "dispatch/trials.h"

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

/// The limit for a trial. A reference with more multiply-adds would take too long.
constexpr double max_operations = 3e7;

std::string difference_of(const Rerun& rerun, std::string_view variant) {
  const std::vector<Tensor> results = rerun.run();
  const std::vector<Values> expected = rerun.reference();
  const reference::Tolerance tolerance = rerun.tolerance(variant);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Values got = reference::values_of(results[i]);
    if (got.size() != expected[i].size()) return concat(got.size(), " results instead of ", expected[i].size());
    const DType rounded_to = is_floating(results[i].dtype()) ? results[i].dtype() : DType::f32;
    const reference::Difference found = reference::difference(got, expected[i], tolerance, rounded_to);
    if (found.wrong > 0)
      return concat(found.wrong, " of ", got.size(), " results, element ", found.worst, " is ", got[found.worst],
                    " instead of ", expected[i][found.worst]);
  }
  return {};
}

std::optional<dispatch::TrialProblem> trial_problem(const std::string& text, Device device, std::int64_t factor,
                                                    std::int64_t divisor) {
  std::optional<Problem> problem = parse_problem(text, device);
  if (factor != 0) problem = with_sizes(*problem, {factor, divisor});
  if (!problem) return std::nullopt;
  std::optional<Rerun> rerun = rerun_of(*problem);
  if (!rerun || rerun->operations > max_operations) return std::nullopt;
  return dispatch::TrialProblem{
      problem->op, [made = std::move(*rerun)](std::string_view variant) { return difference_of(made, variant); }};
}

const bool is_set = [] {
  dispatch::trials() = {rerun_op, trial_problem};
  return true;
}();

}  // namespace

}  // namespace crisol::rerun

/// Linkers of static libraries are told to look for this name, because nothing else names this folder.
extern "C" void crisol_keep_trials() {}
