#include "crisol/functions/activation.h"

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/softmax.h"
#include "tensor/impl.h"

namespace crisol {

Tensor glu(const Tensor& x, int axis) {
  constexpr const char* op = "glu";
  require(x.defined(), op, "the input is undefined");
  const int at = normalized_axis(op, axis, x.dim());
  const std::int64_t size = x.size(at);
  require(size % 2 == 0, op, "the axis has ", size, " elements, and the number must be even");
  return x.narrow(at, 0, size / 2) * sigmoid(x.narrow(at, size / 2, size / 2));
}

Tensor hardshrink(const Tensor& x, double lambda) { return where(abs(x) <= lambda, 0.0, x); }

Tensor softshrink(const Tensor& x, double lambda) { return where(abs(x) <= lambda, 0.0, x - lambda * sign(x)); }

Tensor softmin(const Tensor& x, int axis) { return softmax(-x, axis); }

Tensor softsign(const Tensor& x) { return x / (1 + abs(x)); }

Tensor tanhshrink(const Tensor& x) { return x - tanh(x); }

}  // namespace crisol
