#include "crisol/functions/triangle.h"

#include "autograd/call.h"
#include "crisol/ops/triangle.h"
#include "tensor/trace.h"

namespace crisol {

using autograd::call;

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  return call(
      "tril", {x}, ops::tril(x, diagonal),
      [&](Trace& trace, const Tensor& y) {
        trace.bind(y, trace.node(GraphOp::triangle, {trace.of(x), trace.number(diagonal, DType::i64, x.device())},
                                 {{"upper", 0}}));
      },
      [&] { return [diagonal](const Tensor& dy) { return tril(dy, diagonal); }; });
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  return call(
      "triu", {x}, ops::triu(x, diagonal),
      [&](Trace& trace, const Tensor& y) {
        trace.bind(y, trace.node(GraphOp::triangle, {trace.of(x), trace.number(diagonal, DType::i64, x.device())},
                                 {{"upper", 1}}));
      },
      [&] { return [diagonal](const Tensor& dy) { return triu(dy, diagonal); }; });
}

}  // namespace crisol
