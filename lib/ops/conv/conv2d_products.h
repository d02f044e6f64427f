// The products that a convolution and the gradient of its input are made of, and their launches.
#pragma once

#include <functional>
#include <vector>

#include "ops/conv/conv2d_gather.h"

namespace crisol::ops {

GatheredProduct forward_product(const Conv2dSizes& sizes);

/// A phase of the gradient, with where it begins in the weight and in dx.
struct PhaseProduct {
  GatheredProduct product;
  std::int64_t weight_first, dx_first;
};

/// A product for each remainder of a position by the stride.
std::vector<PhaseProduct> phase_products(const Conv2dSizes& sizes);
/// That with the most work. All phases take its tile: others would be compiled for little.
const GatheredProduct& largest_phase(const std::vector<PhaseProduct>& phases);
/// Why there are too many of them, or nullptr.
const char* refuse_phases(const Conv2dSizes& sizes);

/// What multiplies a product.
using KernelOf = std::function<GatheredKernel(const GatheredProduct&)>;

void run_forward_product(const Conv2dProblem& problem, const KernelOf& kernel_of);
void run_phase_products(const Conv2dProblem& problem, const std::vector<PhaseProduct>& phases,
                        const KernelOf& kernel_of);

}  // namespace crisol::ops
