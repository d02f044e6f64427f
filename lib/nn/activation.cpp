#include "crisol/nn/activation.h"

#include "base/text.h"
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

}  // namespace crisol::nn
