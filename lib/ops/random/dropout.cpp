#include "crisol/ops/dropout.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/random/draw.h"
#include "ops/result.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

float scale_of(const char* op, double p) {
  require(p >= 0 && p <= 1, op, "p must be in [0, 1], it is ", p);
  return p == 1 ? 0.0f : static_cast<float>(1 / (1 - p));
}

/// The elements that a mask keeps, divided by 1 - p, for types that the kernels do not compute in.
Tensor masked(const Tensor& x, const Tensor& mask, double p) {
  return mul(x, mul(cast(mask, x.dtype()), p == 1 ? 0.0 : 1 / (1 - p)));
}

DropoutResult dropout(const Tensor& x, double p, const Generator& generator, const Tensor* y_into,
                      const Tensor* mask_into) {
  constexpr const char* op = "dropout";
  const float scale = scale_of(op, p);
  require_floating(op, "the input", x);
  if (!computes_in_f32(x.dtype())) {
    require_apart(op, y_into, mask_into);
    Result y(op, y_into, x.shape(), x.dtype(), x.device(), {&x});
    const DropoutResult ones_left = dropout(ones(x.shape(), DType::f32, x.device()), p, generator, nullptr, mask_into);
    copy_into(y.place(), masked(x, ones_left.mask, p));
    return {y.done(), ones_left.mask};
  }
  require(x.device() == generator.device(), op, "the input is on ", x.device(), ", the generator on ",
          generator.device());
  runtime::BuiltKernel& kernel =
      runtime::resolve(state_of(x), {"random/dropout.cl", "dropout_forward", elements_of(storage_of(x))});
  const Contiguous input(x);
  require_apart(op, y_into, mask_into);
  Result y(op, y_into, x.shape(), x.dtype(), x.device(), {&x}),
      mask(op, mask_into, x.shape(), DType::u8, x.device(), {&x});
  draw(generator, kernel, x.numel(), in(input), out(y), out(mask), x.numel(), probability_bound(p), scale);
  return {y.done(), mask.done()};
}

Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p, const Tensor* into) {
  constexpr const char* op = "dropout_backward";
  const float scale = scale_of(op, p);
  require_dtype(op, "the mask", mask, DType::u8);
  require_floating(op, "the result's gradient", dy);
  require_operand(op, "the mask", mask, "the result's gradient", dy, mask.shape(), dy.dtype());
  Result dx(op, into, dy.shape(), dy.dtype(), dy.device(), {&dy, &mask});
  if (!computes_in_f32(dy.dtype())) {
    copy_into(dx.place(), masked(dy, mask, p));
    return dx.done();
  }
  runtime::launch(state_of(dy), {"random/dropout.cl", "dropout_backward", elements_of(storage_of(dy))},
                  runtime::flat_range(state_of(dy), dy.numel()), in(Contiguous(dy)), in(Contiguous(mask)), out(dx),
                  dy.numel(), scale);
  return dx.done();
}

}  // namespace

DropoutResult dropout(const Tensor& x, double p, const Generator& generator) {
  return dropout(x, p, generator, nullptr, nullptr);
}
void dropout_into(const Tensor& y, const Tensor& mask, const Tensor& x, double p, const Generator& generator) {
  dropout(x, p, generator, &y, &mask);
}

Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p) {
  return dropout_backward(dy, mask, p, nullptr);
}
void dropout_backward_into(const Tensor& dx, const Tensor& dy, const Tensor& mask, double p) {
  dropout_backward(dy, mask, p, &dx);
}

}  // namespace crisol::ops
