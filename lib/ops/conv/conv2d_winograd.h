// Convolution of 3 x 3 kernels by Winograd's F(4 x 4, 3 x 3) on CPUs (conv2d_winograd.cl), forward and backward data,
// and by F(3 x 3, 4 x 4) backward weights (conv2d_winograd_weight.cl).
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

/// Rounding errors grow with the transforms: on values below 1, a sum of n products differs from the exact one by less
/// than 16·n·2^-24 for any input tried (n = 9 · channels), where the direct sum stays below 2·n·2^-24.
const char* refuse_winograd(const Conv2dProblem& problem, const DeviceInfo& info);
void run_winograd(const Conv2dProblem& problem);
const char* refuse_winograd_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_winograd_data(const Conv2dProblem& problem);

const char* refuse_winograd_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_winograd_weight(const Conv2dProblem& problem);

/// Why Winograd's filtering does not compute such a convolution, or nullptr.
const char* refuse_winograd_form(const Conv2dSizes& sizes);

std::uint64_t winograd_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t winograd_data_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t winograd_weight_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

}  // namespace crisol::ops
