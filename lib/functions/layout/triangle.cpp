#include "crisol/functions/triangle.h"

#include "autograd/call.h"
#include "crisol/ops/triangle.h"
#include "tensor/recorder.h"

namespace crisol {

using autograd::call;

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  return call(
      "tril", {x}, ops::tril(x, diagonal),
      [&](Recorder& r, const Tensor& y) {
        r.bind(y, r.node(GraphOp::triangle, {r.of(x), r.number(diagonal, DType::i64, x.device())}, {{"upper", 0}}));
      },
      [&] { return [diagonal](const Tensor& dy) { return tril(dy, diagonal); }; });
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  return call(
      "triu", {x}, ops::triu(x, diagonal),
      [&](Recorder& r, const Tensor& y) {
        r.bind(y, r.node(GraphOp::triangle, {r.of(x), r.number(diagonal, DType::i64, x.device())}, {{"upper", 1}}));
      },
      [&] { return [diagonal](const Tensor& dy) { return triu(dy, diagonal); }; });
}

}  // namespace crisol
