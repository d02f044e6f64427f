#include "crisol/functions/triangle.h"

#include "autograd/node.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = ops::tril(x, diagonal);
  if (!autograd::recording(x)) return y;
  return autograd::record("tril", y, {x},
                          [diagonal](const Tensor& dy, Needs) { return Gradients{ops::tril(dy, diagonal)}; });
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = ops::triu(x, diagonal);
  if (!autograd::recording(x)) return y;
  return autograd::record("triu", y, {x},
                          [diagonal](const Tensor& dy, Needs) { return Gradients{ops::triu(dy, diagonal)}; });
}

}  // namespace crisol
