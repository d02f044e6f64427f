// Activations as layers, for example for Sequential. Other code can call the functions.
#pragma once

#include "crisol/functions/activation.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/softmax.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// y = x. It can replace a layer that is not wanted.
class Identity : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
};

/// y = function(x), element by element.
template <Tensor (*function)(const Tensor&)>
class Activation : public Module {
 public:
  /// function(x).
  Tensor forward(const Tensor& x) override { return function(x); }
};

class ReLU : public Activation<&relu> {};                 ///< relu(x).
class Sigmoid : public Activation<&sigmoid> {};           ///< sigmoid(x).
class Tanh : public Activation<&tanh> {};                 ///< tanh(x).
class SiLU : public Activation<&silu> {};                 ///< silu(x).
class GELU : public Activation<&gelu> {};                 ///< gelu(x).
class Mish : public Activation<&mish> {};                 ///< mish(x).
class SELU : public Activation<&selu> {};                 ///< selu(x).
class LogSigmoid : public Activation<&log_sigmoid> {};    ///< log_sigmoid(x).
class ReLU6 : public Activation<&relu6> {};               ///< relu6(x).
class Hardsigmoid : public Activation<&hard_sigmoid> {};  ///< hard_sigmoid(x).
class Hardswish : public Activation<&hard_swish> {};      ///< hard_swish(x).
class GELUTanh : public Activation<&gelu_tanh> {};        ///< gelu_tanh(x): PyTorch's GELU(approximate="tanh").
class Softsign : public Activation<&softsign> {};         ///< softsign(x).
class Tanhshrink : public Activation<&tanhshrink> {};     ///< tanhshrink(x).

/// y = function(x, parameter), element by element.
template <Tensor (*function)(const Tensor&, Scalar), int default_hundredths>
class ActivationOf : public Module {
 public:
  /// Keeps the parameter.
  explicit ActivationOf(double parameter = default_hundredths / 100.0) : parameter_(parameter) {}
  /// function(x, parameter).
  Tensor forward(const Tensor& x) override { return function(x, parameter_); }
  /// The second argument.
  double parameter() const noexcept { return parameter_; }

 protected:
  double parameter_;  ///< The second argument.
};

/// leaky_relu(x, slope). The default slope is 0.01.
class CRISOL_API LeakyReLU : public ActivationOf<&leaky_relu, 1> {
 public:
  using ActivationOf::ActivationOf;
  std::string extra_repr() const override;
};
/// elu(x, alpha). The default alpha is 1.
class CRISOL_API ELU : public ActivationOf<&elu, 100> {
 public:
  using ActivationOf::ActivationOf;
  std::string extra_repr() const override;
};
/// celu(x, alpha). The default alpha is 1.
class CRISOL_API CELU : public ActivationOf<&celu, 100> {
 public:
  using ActivationOf::ActivationOf;
  std::string extra_repr() const override;
};
/// softplus(x, beta, threshold).
class CRISOL_API Softplus : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  double beta() const noexcept { return beta_; }            ///< The factor of x.
  double threshold() const noexcept { return threshold_; }  ///< Above it, the result is x.

 private:
  double beta_, threshold_;
};

/// softmax(x, axis).
class CRISOL_API Softmax : public Module {
 public:
  explicit Softmax(int axis) : axis_(axis) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The axis of the sums.
  int axis() const noexcept { return axis_; }

 private:
  int axis_;
};

/// log_softmax(x, axis).
class CRISOL_API LogSoftmax : public Module {
 public:
  explicit LogSoftmax(int axis) : axis_(axis) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The axis of the sums.
  int axis() const noexcept { return axis_; }

 private:
  int axis_;
};

/// x, or weight · x where x is negative, with a trained weight: one number, or one for each channel of x (N, C, …).
class CRISOL_API PReLU : public Module {
 public:
  /// All weights start as `init`.
  explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  Parameter weight;  ///< (num_parameters)
};

/// hard_tanh(x, lower, upper).
class CRISOL_API Hardtanh : public Module {
 public:
  explicit Hardtanh(double lower = -1, double upper = 1) : lower_(lower), upper_(upper) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  double lower() const noexcept { return lower_; }  ///< The least result.
  double upper() const noexcept { return upper_; }  ///< The largest result.

 private:
  double lower_, upper_;
};

/// glu(x, axis): the first half along an axis times the sigmoid of the second half.
class CRISOL_API GLU : public Module {
 public:
  explicit GLU(int axis = -1) : axis_(axis) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The axis that is halved.
  int axis() const noexcept { return axis_; }

 private:
  int axis_;
};

}  // namespace crisol::nn
