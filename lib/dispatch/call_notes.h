// The notes of a timeline about a call of an op.
#pragma once

#include <span>

#include "dispatch/plan.h"
#include "runtime/timeline/timeline.h"

namespace crisol::dispatch {

/// Adds the variant, the problem and the operands to the slice of a call.
void note_call(const Plan& plan, std::span<const OperandView> operands, runtime::TimelineSlice& slice);

}  // namespace crisol::dispatch
