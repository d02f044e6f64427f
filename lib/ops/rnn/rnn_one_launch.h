// Variants in which a work-group takes rows of the batch through the whole sequence: one launch. Their kernels have
// the same arguments.
#pragma once

#include <cstdint>

#include "ops/rnn/rnn_problem.h"

namespace crisol::ops {

/// The reason why no such kernel supports the problem, or nullptr. In a step, a work-item runs `iterations` loop
/// iterations.
const char* against_one_launch(const RnnProblem& problem, const Target& target, std::int64_t iterations);

/// Adds everything that a plan does: filling absent states, the products of all inputs, the sequence, and the masking
/// of outputs. `weight` is weight_hh in the kernel's layout.
void add_one_launch(Plan& plan, const RnnForward& problem, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight);
void add_one_launch(Plan& plan, const RnnBackward& problem, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight);

}  // namespace crisol::ops
