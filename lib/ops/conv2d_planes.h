// Convolution of planes on CPUs (conv2d_planes.cl), for few channels or outputs a group: depthwise, first layers.
#pragma once

#include "ops/conv2d_problem.h"

namespace crisol::ops {

const char* refuse_planes(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes(const Conv2dProblem& problem);
const char* refuse_planes_data(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes_data(const Conv2dProblem& problem);
const char* refuse_planes_weight(const Conv2dProblem& problem, const DeviceInfo& info);
void run_planes_weight(const Conv2dProblem& problem);

}  // namespace crisol::ops
