#include "crisol/nn/dropout.h"

#include "base/text.h"
#include "crisol/functions/dropout.h"
#include "nn/repr.h"

namespace crisol::nn {

Dropout::Dropout(double p) : p_(p) { require(p >= 0 && p <= 1, "Dropout", "p ", p, " is not in [0, 1]"); }

Tensor Dropout::forward(const Tensor& x) { return dropout(x, p_, training()); }

std::string Dropout::extra_repr() const { return concat("p=", decimal(p_), ", inplace=false"); }

}  // namespace crisol::nn
