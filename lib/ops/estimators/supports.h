// Sums over the support vectors of a support vector machine. Only the importer of ONNX files uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::ops {

enum class SupportKernel : std::uint8_t { linear, polynomial, rbf, sigmoid };

/// Support vectors as a file has them: vectors (count, features) and coefficients (sums, count).
/// cl_kernels/estimators/support_sums.cl explains the numbers.
struct Supports {
  SupportKernel kernel = SupportKernel::linear;
  float gamma = 0, coef0 = 0, degree = 0;
  std::int64_t count = 0, features = 0;
  std::vector<float> vectors, coefficients;
  std::vector<float> rho;  ///< One for each sum.
};

/// Supports on a device, in blocks.
struct DeviceSupports {
  DeviceSupports(const Supports& supports, Device device);

  SupportKernel kernel;
  float gamma, coef0, degree;
  std::int64_t features, sums, blocks;
  Tensor vectors, coefficients, rho;
};

/// The sums (rows, sums) for x (rows, features), f32. Throws invalid_argument for another dtype or shape.
Tensor support_sums(const Tensor& x, const DeviceSupports& supports);

}  // namespace crisol::ops
