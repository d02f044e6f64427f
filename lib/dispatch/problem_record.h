// The record to which dispatch adds the problems that it gets.
#pragma once

namespace crisol {
class ProblemRecord;
}

namespace crisol::runtime {

/// The innermost ProblemRecord of this thread, or nullptr.
ProblemRecord* problem_record() noexcept;

}  // namespace crisol::runtime
