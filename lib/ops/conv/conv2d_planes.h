// Convolution of planes on CPUs (conv2d_planes.cl), for few channels or outputs a group: depthwise, first layers.
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

const char* refuse_planes(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes(const Conv2dProblem& problem);
const char* refuse_planes_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes_data(const Conv2dProblem& problem);
const char* refuse_planes_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes_weight(const Conv2dProblem& problem);

std::uint64_t planes_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t planes_data_workspace(const Conv2dProblem& problem, const DeviceInfo& info);
std::uint64_t planes_weight_workspace(const Conv2dProblem& problem, const DeviceInfo& info);

}  // namespace crisol::ops
