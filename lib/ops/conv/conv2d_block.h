// Convolution on GPUs as products whose operands are gathered from the tensors as they lie, without matrices of patches
// (conv2d_block.cl, conv2d_block_weight.cl).
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

const char* refuse_block(const Conv2dProblem& problem, const DeviceInfo& info);
void run_block(const Conv2dProblem& problem);
const char* refuse_block_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_block_data(const Conv2dProblem& problem);
const char* refuse_block_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_block_weight(const Conv2dProblem& problem);

std::uint64_t block_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t block_data_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t block_weight_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

/// The tiles.
extern const Settings<Conv2dProblem> conv2d_block_settings, conv2d_block_data_settings, conv2d_block_weight_settings;

}  // namespace crisol::ops
