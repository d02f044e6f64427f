#include "crisol/functions/triangle.h"

#include "autograd/node.h"
#include "crisol/ops/triangle.h"
#include "tensor/recorder.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = ops::tril(x, diagonal);
  if (Recorder* r = recorder())
    r->bind(y, r->node("Trilu", {r->of(x), r->number(diagonal, DType::i64, x.device())}, {{"upper", 0}}));
  if (!autograd::recording(x)) return y;
  return autograd::record_higher("tril", y, {x},
                                 [diagonal](const Tensor& dy, Needs) { return Gradients{tril(dy, diagonal)}; });
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = ops::triu(x, diagonal);
  if (Recorder* r = recorder())
    r->bind(y, r->node("Trilu", {r->of(x), r->number(diagonal, DType::i64, x.device())}, {{"upper", 1}}));
  if (!autograd::recording(x)) return y;
  return autograd::record_higher("triu", y, {x},
                                 [diagonal](const Tensor& dy, Needs) { return Gradients{triu(dy, diagonal)}; });
}

}  // namespace crisol
