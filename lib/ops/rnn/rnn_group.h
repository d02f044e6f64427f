// Variants in which a work-group takes rows of the batch through the whole sequence: one launch, of kernels whose
// arguments are the same.
#pragma once

#include <cstdint>

#include "ops/rnn/rnn_problem.h"

namespace crisol::ops {

/// Why no such kernel takes these sizes where a work-item runs `iterations` of its loops a step, or nullptr.
const char* refuse_rnn_rows(const RnnSizes& sizes, bool projected, std::int64_t iterations, const DeviceInfo& info);

/// Queues the products of all inputs and the sequence. `weight` is weight_hh as the kernel reads it.
void launch_rnn_forward(const RnnForward& problem, runtime::Kernel& kernel, const runtime::NdRange& range,
                        const Tensor& weight);
void launch_rnn_backward(const RnnBackward& problem, runtime::Kernel& kernel, const runtime::NdRange& range,
                         const Tensor& weight);

}  // namespace crisol::ops
