// Activations as layers, for Sequential; elsewhere call the functions.
#pragma once

#include "crisol/functions/elementwise.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// y = function(x), element by element.
template <Tensor (*function)(const Tensor&)>
class Activation : public Module {
 public:
  Tensor forward(const Tensor& x) override { return function(x); }
};

using ReLU = Activation<&relu>;                 ///< relu(x).
using Sigmoid = Activation<&sigmoid>;           ///< sigmoid(x).
using Tanh = Activation<&tanh>;                 ///< tanh(x).
using SiLU = Activation<&silu>;                 ///< silu(x).
using GELU = Activation<&gelu>;                 ///< gelu(x).
using Mish = Activation<&mish>;                 ///< mish(x).
using SELU = Activation<&selu>;                 ///< selu(x).
using LogSigmoid = Activation<&log_sigmoid>;    ///< log_sigmoid(x).
using ReLU6 = Activation<&relu6>;               ///< relu6(x).
using Hardsigmoid = Activation<&hard_sigmoid>;  ///< hard_sigmoid(x).
using Hardswish = Activation<&hard_swish>;      ///< hard_swish(x).

/// y = function(x, parameter), element by element.
template <Tensor (*function)(const Tensor&, Scalar), int default_hundredths>
class ActivationOf : public Module {
 public:
  explicit ActivationOf(double parameter = default_hundredths / 100.0) : parameter_(parameter) {}
  Tensor forward(const Tensor& x) override { return function(x, parameter_); }

 private:
  double parameter_;
};

/// Slope 0.01 below zero.
using LeakyReLU = ActivationOf<&leaky_relu, 1>;
/// alpha 1.
using ELU = ActivationOf<&elu, 100>;
/// alpha 1.
using CELU = ActivationOf<&celu, 100>;
/// softplus(x, beta, threshold).
class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& x) override { return softplus(x, beta_, threshold_); }

 private:
  double beta_, threshold_;
};

}  // namespace crisol::nn
