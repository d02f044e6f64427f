#include "crisol/nn/linear.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/matmul.h"
#include "crisol/nn/init.h"
#include "nn/repr.h"

namespace crisol::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options) {
  require(in_features > 0 && out_features > 0, "Linear", "in_features ", in_features, " and out_features ",
          out_features, " must be positive");
  weight = init::kaiming_uniform_(empty({out_features, in_features}), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  if (options.bias) bias = init::uniform_(empty({out_features}), -bound, bound);
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

Tensor Linear::operator()(const Tensor& x, const Epilogue& epilogue) {
  return has_hooks() ? epilogue((*this)(x)) : linear(x, weight, bias, epilogue);
}

std::string Linear::extra_repr() const {
  return concat("in_features=", weight.size(1), ", out_features=", weight.size(0), ", bias=", word(bias.defined()));
}

}  // namespace crisol::nn
