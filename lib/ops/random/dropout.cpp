#include "crisol/ops/dropout.h"

#include "crisol/ops/copy.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/random/draw.h"

namespace crisol::ops {

namespace {

float scale_of(const char* op, double p) {
  require(p >= 0 && p <= 1, op, "p must be in [0, 1], it is ", p);
  return p == 1 ? 0.0f : static_cast<float>(1 / (1 - p));
}

}  // namespace

DropoutResult dropout(const Tensor& x, double p, const Generator& generator) {
  constexpr const char* op = "dropout";
  const float scale = scale_of(op, p);
  require_dtype(op, "the input", x, DType::f32);
  require(x.device() == generator.device(), op, "the input is on ", x.device(), ", the generator on ",
          generator.device());
  runtime::BuiltKernel& kernel = runtime::resolve(state_of(x), {"random/dropout.cl", "dropout_forward"});
  const Contiguous input(x);
  const DropoutResult result{empty(x.shape(), DType::f32, x.device()), empty(x.shape(), DType::u8, x.device())};
  draw(generator, kernel, x.numel(), in(input), out(result.y), out(result.mask), x.numel(), probability_bound(p),
       scale);
  return result;
}

Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p) {
  constexpr const char* op = "dropout_backward";
  const float scale = scale_of(op, p);
  require_dtype(op, "the mask", mask, DType::u8);
  require_operand(op, "the mask", mask, "the result's gradient", dy, mask.shape());
  const Tensor dx = empty(dy.shape(), DType::f32, dy.device());
  runtime::launch(state_of(dy), {"random/dropout.cl", "dropout_backward"},
                  runtime::flat_range(state_of(dy), dy.numel()), in(Contiguous(dy)), in(Contiguous(mask)), out(dx),
                  dy.numel(), scale);
  return dx;
}

}  // namespace crisol::ops
