#include "dispatch/stored/problem_log.h"

#include <algorithm>

#include "base/thread_context.h"
#include "crisol/tuning.h"

namespace crisol {

const std::string& TuningProblem::usual() const {
  static const std::string none;
  for (const TuningCandidate& candidate : candidates)
    if (candidate.refusal.empty()) return candidate.variant;
  return none;
}

ProblemLog::ProblemLog() noexcept : outer_(thread_context().dispatch.problem_log) {
  thread_context().dispatch.problem_log = this;
}

ProblemLog::~ProblemLog() { thread_context().dispatch.problem_log = outer_; }

void ProblemLog::note(const TuningProblem& problem) {
  const auto known = std::find_if(problems_.begin(), problems_.end(), [&](const TuningProblem& p) {
    return p.key == problem.key && p.text == problem.text;
  });
  if (known != problems_.end())
    ++known->times;
  else
    problems_.push_back(problem);
  if (outer_ != nullptr) outer_->note(problem);
}

namespace dispatch {
ProblemLog* problem_log() noexcept { return thread_context().dispatch.problem_log; }
}  // namespace dispatch

}  // namespace crisol
