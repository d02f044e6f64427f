#include "crisol/functions/matmul.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "autograd/saved_for.h"
#include "base/text.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/matmul.h"
#include "functions/fuse/epilogue.h"
#include "functions/gradients.h"
#include "functions/traced/traced.h"
#include "ops/collapse.h"
#include "ops/product/with_epilogue.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::saved_for;

namespace {

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

// Reshapes (…, F) to (rows, F), so that one product computes all rows.
Tensor as_rows(const Tensor& x) {
  std::int64_t rows = 1;
  for (int axis = 0; axis < x.dim() - 1; ++axis) rows *= x.shape()[axis];
  return x.reshape({rows, x.shape().back()});
}

auto matmul_backward(const Tensor& left, const Tensor& right) {
  return [a = saved_for(right, left), b = saved_for(left, right), of_a = left.shape(), of_b = right.shape()](
             const Tensor& dy, Needs needs) {
    Gradients gradients(2);
    // If a leading axis was broadcast, its gradient is the sum over the copies.
    if (needs[0]) gradients[0] = autograd::sum_to(matmul(dy, transposed(b.get())), of_a);
    if (needs[1]) gradients[1] = autograd::sum_to(matmul(transposed(a.get()), dy), of_b);
    return gradients;
  };
}

auto linear_backward(const Tensor& input, const Tensor& matrix) {
  return [x = saved_for(matrix, input), weight = saved_for(input, matrix), shape = input.shape()](const Tensor& dy,
                                                                                                  Needs needs) {
    Gradients gradients(3);
    const Tensor rows = as_rows(dy);
    if (needs[0]) gradients[0] = matmul(rows, weight.get()).reshape(shape);
    if (needs[1]) gradients[1] = matmul(transposed(rows), as_rows(x.get()));
    if (needs[2]) gradients[2] = sum(rows, {0});
    return gradients;
  };
}

// All axes except the last two, which form a matrix.
Shape leading_axes(const Tensor& x) { return Shape(x.shape().begin(), static_cast<std::size_t>(x.dim() - 2)); }

bool has_vector(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.dim() >= 1 && b.dim() >= 1 && (a.dim() == 1 || b.dim() == 1);
}

// A vector on the left is one row, and a vector on the right is one column. The result has no axis for it.
Tensor multiply_vector(const Tensor& a, const Tensor& b) {
  const bool row = a.dim() == 1, column = b.dim() == 1;
  const std::int64_t wanted = b.size(column ? 0 : -2);
  require(a.size(-1) == wanted, "matmul", "shapes ", a.shape(), " and ", b.shape(), " do not fit: the left has ",
          a.size(-1), " columns, the right ", wanted, " rows");
  Tensor y = matmul(row ? a.unsqueeze(0) : a, column ? b.unsqueeze(-1) : b);
  if (column) y = y.squeeze(-1);
  return row ? y.squeeze(column ? -1 : -2) : y;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (const autograd::Autocasts casts("matmul"); casts) return matmul(casts(a), casts(b));
  if (has_vector(a, b)) return multiply_vector(a, b);
  return call(
      "matmul", {a, b}, ops::matmul(a, b),
      [&](Trace& trace, const Tensor& y) {
        trace.note(GraphOp::matmul, {a, b}, y);
      },
      [&] { return matmul_backward(a, b); });
}

Tensor matmul(const Tensor& a, const Tensor& b, const Epilogue& epilogue) {
  if (const autograd::Autocasts casts("matmul"); casts) return matmul(casts(a), casts(b), epilogue);
  if (has_vector(a, b)) return epilogue(matmul(a, b));
  if (a.dim() < 2 || b.dim() < 2) return matmul(a, b);  // matmul throws.
  Shape shape = ops::broadcast_shape("matmul", leading_axes(a), leading_axes(b));
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  return detail::run_with_epilogue({.name = "matmul",
                                    .layout = {.shape = shape, .in_products = true},
                                    .inputs = {a, b},
                                    .plain = [&] { return matmul(a, b); },
                                    .raw = [&](const ops::ProductEpilogue& f) { return ops::matmul(a, b, f); },
                                    .backward = [&] { return matmul_backward(a, b); }},
                                   epilogue);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (const autograd::Autocasts casts("linear"); casts) return linear(casts(x), casts(weight), casts(bias));
  return call(
      "linear", {x, weight, bias}, ops::linear(x, weight, bias),
      [&](Trace& trace, const Tensor& y) { traced::linear(trace, x, weight, bias, y); },
      [&] { return linear_backward(x, weight); });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Epilogue& epilogue) {
  if (const autograd::Autocasts casts("linear"); casts) return linear(casts(x), casts(weight), casts(bias), epilogue);
  if (x.dim() < 1 || weight.dim() != 2) return linear(x, weight, bias);  // linear throws.
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  return detail::run_with_epilogue(
      {.name = "linear",
       .layout = {.shape = shape},
       .inputs = {x, weight, bias},
       .plain = [&] { return linear(x, weight, bias); },
       .raw = [&](const ops::ProductEpilogue& f) { return ops::linear(x, weight, bias, f); },
       .backward = [&] { return linear_backward(x, weight); }},
      epilogue);
}

}  // namespace crisol
