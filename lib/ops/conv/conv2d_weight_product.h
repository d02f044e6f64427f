// The product of conv2d_block_weight.cl and conv2d_matrix_weight.cl: the gradient of a convolution's weight, over the
// pixels of all images.
#pragma once

#include "ops/conv/conv2d_gather.h"

namespace crisol::ops {

/// Why kernels that read pixels in slices cannot take a convolution of these sizes, or nullptr.
const char* refuse_weight_product(const Conv2dSizes& sizes, const DeviceInfo& info);
/// Into how many parts the depth may be cut, for the memory that they take, and the memory that some take.
int most_weight_parts(const Conv2dSizes& sizes);
std::uint64_t weight_product_workspace(const Conv2dSizes& sizes, int parts);

void run_weight_product(const Conv2dProblem& problem, const GatheredKernel& kernel);

}  // namespace crisol::ops
