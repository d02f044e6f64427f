#include "crisol/nn/flatten.h"

namespace crisol::nn {

Tensor Flatten::forward(const Tensor& x) { return x.flatten(first_, last_); }

}  // namespace crisol::nn
