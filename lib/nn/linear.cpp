#include "crisol/nn/linear.h"

#include <cmath>

#include "base/text.h"
#include "crisol/functions/matmul.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias) {
  require(in_features > 0 && out_features > 0, "Linear", "in_features ", in_features, " and out_features ",
          out_features, " must be positive");
  weight = register_parameter("weight", init::kaiming_uniform_(empty({out_features, in_features}), std::sqrt(5.0)));
  if (!with_bias) return;
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  bias = register_parameter("bias", init::uniform_(empty({out_features}), -bound, bound));
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

Tensor Linear::forward(const Tensor& x, const Epilogue& epilogue) { return linear(x, weight, bias, epilogue); }

}  // namespace crisol::nn
