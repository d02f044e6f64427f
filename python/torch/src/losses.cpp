// Losses.
#include "call.h"
#include "crisol/dtype_table.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Reduction;
using crisol::Shape;
using crisol::Tensor;

Reduction reduction(const Call& c, std::size_t i) {
  switch (c.whole(i)) {
    case at::Reduction::None: return Reduction::none;
    case at::Reduction::Mean: return Reduction::mean;
    default: return Reduction::sum;
  }
}

// Writes a result of another floating-point type, too.
void deliver(const Tensor& out, const Tensor& result) { ops::copy_into(out, ops::reshape(result, out.shape())); }

// Images (N, C, H, W) as rows (N H W, C), and (C) as one row.
Tensor as_rows(const Tensor& x) {
  if (x.dim() == 1) return ops::unsqueeze(x, 0);
  return x.dim() == 4 ? ops::reshape(ops::permute(x, {0, 2, 3, 1}), {-1, x.size(1)}) : x;
}

// The weight of each label, which is 0 for an ignored label. The second result has 0 in place of ignored labels.
std::pair<Tensor, Tensor> weights_of(const Tensor& weight, const Tensor& labels, const crisol::Scalar& ignored) {
  const Tensor counts = ops::ne(labels, ignored);
  const Tensor safe = ops::where(counts, labels, crisol::Scalar(0));
  return {ops::where(counts, ops::index_select(weight, 0, safe), 0.0), safe};
}

// nll_loss with a weight for each class.
Results weighted_nll_loss(const Call& c) {
  const Tensor x = as_rows(c.tensor(0)), labels = ops::reshape(c.tensor(1), {-1});
  const auto [weights, safe] = weights_of(c.tensor(2), labels, c.scalar(4));
  const Tensor picked = ops::reshape(ops::gather(x, 1, ops::unsqueeze(safe, 1)), {-1});
  const Tensor losses = ops::neg(ops::mul(picked, weights)), sum = ops::sum(weights);
  const Reduction kind = reduction(c, 3);
  deliver(c.tensor(5), kind == Reduction::none   ? losses
                       : kind == Reduction::mean ? ops::div(ops::sum(losses), sum)
                                                 : ops::sum(losses));
  deliver(c.tensor(6), kind == Reduction::none ? crisol::zeros({}, x.dtype(), x.device()) : sum);
  return {c.value(5), c.value(6)};
}

// (x, labels, weight, reduction, ignore_index, loss, total weight)
Results nll_loss(const Call& c) {
  const Tensor x = c.tensor(0), labels = c.tensor(1), loss = c.tensor(5), total = c.tensor(6);
  if (!c.is_none(2) && c.torch(2).defined()) return weighted_nll_loss(c);
  const Reduction kind = reduction(c, 3);
  const ops::NllResult result = ops::nll_loss(as_rows(x), ops::reshape(labels, {-1}), kind, c.whole(4));
  // The gradient reads only the total weight of a mean. PyTorch's CPU gives 0 for no reduction.
  const Tensor weights = kind == Reduction::mean  ? ops::reciprocal(result.scale)
                         : kind == Reduction::sum ? ops::sum(ops::cast(ops::ne(labels, c.scalar(4)), DType::f32))
                                                  : crisol::zeros({}, DType::f32, x.device());
  need(total.numel() == 1 && loss.numel() == result.loss.numel(), "the sizes of the results");
  deliver(loss, result.loss);
  deliver(total, weights);
  return {c.value(5), c.value(6)};
}

// (dy, x, labels, weight, reduction, ignore_index, total weight, dx)
void nll_loss_backward(const Call& c, const Tensor& dx) {
  const Tensor x = c.tensor(1), labels = ops::reshape(c.tensor(2), {-1});
  const std::int64_t classes = x.size(x.dim() == 1 ? 0 : 1);
  const Reduction kind = reduction(c, 4);
  const Tensor total = c.tensor(6);
  const Tensor scale = kind == Reduction::mean ? ops::reciprocal(ops::cast(total, DType::f32))
                                               : crisol::ones({}, DType::f32, x.device());
  Tensor dy = c.tensor(0);
  if (kind == Reduction::none) dy = ops::reshape(dy, {-1});
  Tensor rows;
  if (c.is_none(3) || !c.torch(3).defined()) {
    rows =
        ops::nll_loss_backward(ops::cast(dy, crisol::value_type(x.dtype())), labels, scale, classes, kind, c.whole(5));
  } else {
    const auto [weights, safe] = weights_of(c.tensor(3), labels, c.scalar(5));
    const Tensor slopes = ops::neg(ops::mul(ops::mul(weights, dy), ops::cast(scale, x.dtype())));
    rows = ops::scatter(crisol::zeros({labels.numel(), classes}, x.dtype(), x.device()), 1, ops::unsqueeze(safe, 1),
                        ops::unsqueeze(slopes, 1));
  }
  if (x.dim() != 4) return ops::copy_into(dx, ops::reshape(rows, x.shape()));
  ops::copy_into(dx, ops::permute(ops::reshape(rows, {x.size(0), x.size(2), x.size(3), x.size(1)}), {0, 3, 1, 2}));
}

// (x, target, reduction, loss)
void mse_loss(const Call& c, const Tensor& loss) {
  deliver(loss, ops::mse_loss(c.tensor(0), c.tensor(1), reduction(c, 2)));
}
Tensor mse_loss_backward(const Call& c) {
  return ops::mse_loss_backward(c.tensor(0), c.tensor(1), c.tensor(2), reduction(c, 3));
}

Tensor reduced(const Tensor& losses, Reduction kind) {
  return kind == Reduction::none ? losses : kind == Reduction::mean ? ops::mean(losses) : ops::sum(losses);
}
// The gradient of the losses from the gradient of the result.
Tensor spread(const Tensor& dy, Reduction kind, std::int64_t elements) {
  return kind == Reduction::mean ? ops::mul(dy, 1.0 / static_cast<double>(elements)) : dy;
}

// (x, target, reduction, delta): delta² / 2 times the square of d / delta within delta, else delta (|d| - delta / 2).
Tensor huber(const Tensor& x, const Tensor& target, double delta) {
  const Tensor distance = ops::abs(ops::sub(x, target));
  return ops::where(ops::lt(distance, delta), ops::mul(ops::square(distance), 0.5),
                    ops::mul(ops::sub(distance, 0.5 * delta), delta));
}
void huber_loss(const Call& c, const Tensor& loss) {
  deliver(loss, reduced(huber(c.tensor(0), c.tensor(1), c.number(3)), reduction(c, 2)));
}
void smooth_l1_loss(const Call& c, const Tensor& loss) {
  need(c.number(3) > 0, "smooth_l1_loss with beta 0");
  const Tensor losses = huber(c.tensor(0), c.tensor(1), c.number(3));
  deliver(loss, reduced(ops::mul(losses, 1 / c.number(3)), reduction(c, 2)));
}
// (dy, x, target, reduction, delta, dx): the gradient of huber times `factor`.
void huber_backward(const Call& c, const Tensor& dx, double factor) {
  const Tensor x = c.tensor(1);
  const double delta = c.number(4);
  const Tensor slope = ops::clamp(ops::sub(x, c.tensor(2)), -delta, delta);
  const Tensor dy = spread(c.tensor(0), reduction(c, 3), slope.numel());
  ops::mul_into(dx, ops::mul(slope, factor), dy);
}

// (x, target, weight, reduction): PyTorch bounds the logarithms by -100.
Tensor binary_cross_entropy(const Call& c) {
  const Tensor x = c.tensor(0), target = c.tensor(1);
  const Tensor hit = ops::maximum(ops::log(x), -100.0), miss = ops::maximum(ops::log1p(ops::neg(x)), -100.0);
  Tensor losses = ops::sub(ops::mul(ops::sub(target, 1.0), miss), ops::mul(target, hit));
  if (const Tensor weight = c.tensor(2); weight.defined()) losses = ops::mul(losses, weight);
  return reduced(losses, reduction(c, 3));
}
// (dy, x, target, weight, reduction)
Tensor binary_cross_entropy_backward(const Call& c) {
  const Tensor x = c.tensor(1), target = c.tensor(2);
  const Tensor square = ops::maximum(ops::mul(ops::sub(1.0, x), x), 1e-12);
  Tensor dx = ops::mul(ops::div(ops::sub(x, target), square), spread(c.tensor(0), reduction(c, 4), x.numel()));
  if (const Tensor weight = c.tensor(3); weight.defined()) dx = ops::mul(dx, weight);
  return dx;
}

// multi_margin_loss: (x, labels, p, margin, weight, reduction) from argument `first` on.
struct Margins {
  Margins(const Call& c, std::size_t first) : x(c.tensor(first)), is_square(c.number(first + 2) == 2) {
    if (x.dim() < 2) x = ops::reshape(x, {1, -1});
    const Tensor labels = ops::reshape(c.tensor(first + 1), {-1});
    need(x.numel() != 0 && labels.numel() == x.size(0), "rows without a label");
    own = ops::one_hot(labels, x.size(1), DType::boolean);
    const Tensor distance = ops::sub(x, ops::gather(x, 1, ops::unsqueeze(labels, 1)));
    hinge = ops::masked_fill(ops::relu(ops::add(distance, c.number(first + 3))), own, 0);
    if (const Tensor weight = c.tensor(first + 4); weight.defined())
      weights = ops::unsqueeze(ops::index_select(weight, 0, labels), 1);
  }
  Tensor weighted(const Tensor& values) const { return weights.defined() ? ops::mul(values, weights) : values; }

  Tensor x, own, hinge, weights;
  bool is_square;
};
Tensor multi_margin_loss(const Call& c) {
  const Margins m(c, 0);
  const Tensor losses = ops::mean(m.weighted(m.is_square ? ops::square(m.hinge) : m.hinge), {1});
  return reduced(ops::reshape(losses, shape_of(c.torch(1).sizes())), reduction(c, 5));
}
// (dy, x, labels, p, margin, weight, reduction)
Tensor multi_margin_loss_backward(const Call& c) {
  const Margins m(c, 1);
  const Tensor dy = ops::reshape(spread(c.tensor(0), reduction(c, 6), m.hinge.numel()), {-1, 1});
  const Tensor slope = m.is_square ? ops::mul(m.hinge, 2) : ops::cast(ops::gt(m.hinge, 0), m.x.dtype());
  const double rows = reduction(c, 6) == Reduction::mean ? 1 : 1 / static_cast<double>(m.x.size(1));
  const Tensor dx = ops::mul(m.weighted(ops::mul(slope, rows)), dy);
  return ops::reshape(ops::where(m.own, ops::neg(ops::sum(dx, {1}, true)), dx), shape_of(c.torch(1).sizes()));
}

}  // namespace

Rows loss_rows() {
  return {
      {"nll_loss_forward.output", nll_loss},
      {"nll_loss_backward.grad_input", into(nll_loss_backward)},
      {"nll_loss2d_forward",
       [](const Call& c) {
         const at::Tensor x = c.torch(0), labels = c.torch(1);
         const bool rows = c.whole(3) == at::Reduction::None;
         c10::IValue loss = rows ? at::empty(labels.sizes(), x.options()) : at::empty({}, x.options());
         std::vector<c10::IValue> arguments{
             x, labels, c.value(2), c.value(3), c.value(4), loss, at::empty({}, x.options())};
         return nll_loss(Call(arguments));
       }},
      {"nll_loss2d_backward",
       [](const Call& c) {
         const at::Tensor dx = at::empty_like(c.torch(1));
         nll_loss_backward(c, tensor_of(dx));
         return Results{dx};
       }},
      {"mse_loss.out", into(mse_loss)},
      {"mse_loss_backward", gives(mse_loss_backward)},
      {"mse_loss_backward.grad_input",
       into([](const Call& c, const Tensor& out) { deliver(out, mse_loss_backward(c)); })},
      {"huber_loss.out", into(huber_loss)},
      {"huber_loss",
       gives([](const Call& c) { return reduced(huber(c.tensor(0), c.tensor(1), c.number(3)), reduction(c, 2)); })},
      {"huber_loss_backward.out", into([](const Call& c, const Tensor& dx) { huber_backward(c, dx, 1); })},
      {"smooth_l1_loss.out", into(smooth_l1_loss)},
      {"smooth_l1_loss_backward.grad_input", into([](const Call& c, const Tensor& dx) {
         need(c.number(4) > 0, "smooth_l1_loss with beta 0");
         huber_backward(c, dx, 1 / c.number(4));
       })},
      {"multi_margin_loss", gives(multi_margin_loss)},
      {"multi_margin_loss.out", into([](const Call& c, const Tensor& out) { deliver(out, multi_margin_loss(c)); })},
      {"multi_margin_loss_backward", gives(multi_margin_loss_backward)},
      {"binary_cross_entropy", gives(binary_cross_entropy)},
      {"binary_cross_entropy_backward", gives(binary_cross_entropy_backward)},
  };
}

}  // namespace crisol_torch
