// Where dispatch tells what it was asked to do.
#pragma once

namespace crisol {
class ProblemRecord;
}

namespace crisol::runtime {

/// The innermost ProblemRecord of this thread, or nullptr.
ProblemRecord* problem_record() noexcept;

}  // namespace crisol::runtime
