// Convolution with 1 x 1 kernels as plain matrix products, a product an image: for devices whose product takes the
// tensors as they lie.
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

const char* refuse_conv2d_gemm(const Conv2dProblem& problem, const DeviceInfo& info);
void run_conv2d_gemm(const Conv2dProblem& problem);
const char* refuse_conv2d_data_gemm(const Conv2dProblem& problem, const DeviceInfo& info);
void run_conv2d_data_gemm(const Conv2dProblem& problem);
const char* refuse_conv2d_weight_gemm(const Conv2dProblem& problem, const DeviceInfo& info);
void run_conv2d_weight_gemm(const Conv2dProblem& problem);

}  // namespace crisol::ops
