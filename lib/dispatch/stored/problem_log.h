// The log to which dispatch adds the problems that it gets.
#pragma once

namespace crisol {
class ProblemLog;
}

namespace crisol::dispatch {

/// The innermost ProblemLog of this thread, or nullptr.
ProblemLog* problem_log() noexcept;

}  // namespace crisol::dispatch
