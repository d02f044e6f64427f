// Depthwise convolution on GPUs (conv2d_depthwise.cl, conv2d_depthwise_weight.cl).
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

const char* refuse_depthwise(const Conv2dProblem& problem, const DeviceInfo& info);
void run_depthwise(const Conv2dProblem& problem);
const char* refuse_depthwise_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_depthwise_data(const Conv2dProblem& problem);
const char* refuse_depthwise_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_depthwise_weight(const Conv2dProblem& problem);
std::uint64_t depthwise_weight_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

}  // namespace crisol::ops
