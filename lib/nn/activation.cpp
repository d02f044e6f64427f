#include "crisol/nn/activation.h"

#include "base/text.h"
#include "functions/by_channel.h"
#include "nn/repr.h"

namespace crisol::nn {

std::string LeakyReLU::extra_repr() const { return "negative_slope=" + decimal(parameter_); }
std::string ELU::extra_repr() const { return "alpha=" + decimal(parameter_); }
std::string CELU::extra_repr() const { return "alpha=" + decimal(parameter_); }

Tensor Softplus::forward(const Tensor& x) { return softplus(x, beta_, threshold_); }
std::string Softplus::extra_repr() const {
  return concat("beta=", decimal(beta_), ", threshold=", decimal(threshold_));
}

Tensor Softmax::forward(const Tensor& x) { return softmax(x, axis_); }
std::string Softmax::extra_repr() const { return concat("dim=", axis_); }

Tensor LogSoftmax::forward(const Tensor& x) { return log_softmax(x, axis_); }
std::string LogSoftmax::extra_repr() const { return concat("dim=", axis_); }

PReLU::PReLU(std::int64_t num_parameters, double init) {
  require(num_parameters > 0, "PReLU", "num_parameters ", num_parameters, " must be positive");
  weight = full({num_parameters}, init);
  register_parameter("weight", weight);
}

Tensor PReLU::forward(const Tensor& x) {
  require(weight.numel() == 1 || (x.defined() && x.dim() >= 2), "PReLU", "the input must be (N, ", weight.numel(),
          ", …), ", x.defined() ? concat("its shape is ", x.shape()) : "it is undefined");
  return prelu(x, weight.numel() == 1 ? Tensor(weight) : by_channel(weight, x.dim()));
}

std::string PReLU::extra_repr() const { return concat("num_parameters=", weight.numel()); }

Tensor Hardtanh::forward(const Tensor& x) { return hard_tanh(x, lower_, upper_); }
std::string Hardtanh::extra_repr() const { return concat("min_val=", decimal(lower_), ", max_val=", decimal(upper_)); }

Tensor GLU::forward(const Tensor& x) { return glu(x, axis_); }
std::string GLU::extra_repr() const { return concat("dim=", axis_); }

}  // namespace crisol::nn
