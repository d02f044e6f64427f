#include "crisol/nn/flatten.h"

#include "base/text.h"

namespace crisol::nn {

Tensor Flatten::forward(const Tensor& x) { return x.flatten(first_, last_); }

std::string Flatten::extra_repr() const { return concat("start_dim=", first_, ", end_dim=", last_); }

}  // namespace crisol::nn
