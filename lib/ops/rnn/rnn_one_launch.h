// Variants in which a work-group takes rows of the batch through the whole sequence: one launch. Their kernels have
// the same arguments.
#pragma once

#include <cstdint>

#include "ops/rnn/rnn_problem.h"

namespace crisol::ops {

/// Why no such kernel takes the problem, or nullptr. A work-item runs `iterations` of its loops in a step.
const char* against_one_launch(const RnnProblem& problem, const Target& target, std::int64_t iterations);

/// Adds all that a plan does: the absent states, the products of all inputs, the sequence, and the masking of outputs.
/// `weight` is weight_hh as the kernel reads it.
void add_one_launch(Plan& plan, const RnnForward& problem, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight);
void add_one_launch(Plan& plan, const RnnBackward& problem, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight);

}  // namespace crisol::ops
