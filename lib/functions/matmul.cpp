#include "crisol/functions/matmul.h"

#include "autograd/node.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

Tensor transposed(const Tensor& x) { return ops::transpose(x, -2, -1); }

// (…, F) as (rows, F): one product over all rows serves every leading axis.
Tensor as_rows(const Tensor& x) {
  return ops::reshape(x, {x.shape().back() == 0 ? 0 : x.numel() / x.shape().back(), x.shape().back()});
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Tensor y = ops::matmul(a, b);
  if (!autograd::recording({a, b})) return y;
  return autograd::record("matmul", y, {a, b}, [a = Saved(a), b = Saved(b)](const Tensor& dy, Needs needs) {
    Gradients gradients(2);
    // Leading axes that were broadcast take the sum of their copies' gradients.
    if (needs[0]) gradients[0] = ops::sum_to(ops::matmul(dy, transposed(b.get())), a.get().shape());
    if (needs[1]) gradients[1] = ops::sum_to(ops::matmul(transposed(a.get()), dy), b.get().shape());
    return gradients;
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = ops::linear(x, weight, bias);
  if (!autograd::recording({x, weight, bias})) return y;
  return autograd::record("linear", y, {x, weight, bias},
                          [x = Saved(x), weight = Saved(weight)](const Tensor& dy, Needs needs) {
                            Gradients gradients(3);
                            const Tensor rows = as_rows(dy);
                            if (needs[0]) gradients[0] = ops::reshape(ops::matmul(rows, weight.get()), x.get().shape());
                            if (needs[1]) gradients[1] = ops::matmul(transposed(rows), as_rows(x.get()));
                            if (needs[2]) gradients[2] = ops::sum(rows, {0});
                            return gradients;
                          });
}

}  // namespace crisol
