// Losses.
#include <algorithm>
#include <limits>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/fuse.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Expr;
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

// multilabel_margin_loss: (x, labels) from argument `first` on. The labels of a row end at the first negative number.
struct LabelMargins {
  LabelMargins(const Call& c, std::size_t first) : x(c.tensor(first)), labels(c.tensor(first + 1)) {
    need(x.numel() != 0 && x.shape() == labels.shape() && labels.dtype() == DType::i64, "labels of another shape");
    if (x.dim() < 2) x = ops::reshape(x, {1, -1}), labels = ops::reshape(labels, {1, -1});
    const Tensor ends = ops::cumsum(ops::cast(ops::lt(labels, 0), DType::i64), 1);
    const Tensor counts = ops::eq(ends, 0);
    places = ops::where(counts, labels, crisol::Scalar(0));
    is_label = ops::gt(
        ops::scatter_add(crisol::zeros(x.shape(), x.dtype(), x.device()), 1, places, ops::cast(counts, x.dtype())), 0);
    // For each label of a row, and each class.
    const Tensor distance = ops::sub(ops::unsqueeze(x, 1), ops::unsqueeze(ops::gather(x, 1, places), 2));
    const Tensor is_pair = ops::logical_and(ops::unsqueeze(counts, 2), ops::logical_not(ops::unsqueeze(is_label, 1)));
    hinge = ops::where(is_pair, ops::relu(ops::add(distance, 1.0)), 0.0);
  }

  Tensor x, labels, places, is_label, hinge;
};
Results multilabel_margin_loss(const Call& c) {
  const LabelMargins m(c, 0);
  const Tensor losses = ops::mul(ops::sum(m.hinge, {1, 2}), 1 / static_cast<double>(m.x.size(1)));
  const Tensor rows = c.torch(0).dim() < 2 ? ops::reshape(losses, {}) : losses;
  const Shape shape = shape_of(c.torch(1).sizes());
  return {wrap(reduced(rows, reduction(c, 2))), wrap(ops::reshape(ops::cast(m.is_label, m.x.dtype()), shape))};
}
// (dy, x, labels, reduction, is_target)
Tensor multilabel_margin_loss_backward(const Call& c) {
  const LabelMargins m(c, 1);
  const Tensor dy = ops::reshape(spread(c.tensor(0), reduction(c, 3), m.x.size(0)), {-1, 1});
  const Tensor is_active = ops::cast(ops::gt(m.hinge, 0), m.x.dtype());
  const Tensor of_classes = ops::sum(is_active, {1}), of_labels = ops::neg(ops::sum(is_active, {2}));
  const Tensor slope =
      ops::mul(ops::scatter_add(of_classes, 1, m.places, of_labels), 1 / static_cast<double>(m.x.size(1)));
  return ops::reshape(ops::mul(slope, dy), shape_of(c.torch(1).sizes()));
}

// ---- ctc_loss. A sequence of states is blank, label, blank, …, label, blank. The recursions over the steps are in
// logarithms, with one kernel for each step of all states.

const double no_chance = -std::numeric_limits<double>::infinity();

// Numbers of the host, or of a tensor.
std::vector<std::int64_t> lengths_of(const Call& c, std::size_t i) {
  if (!c.value(i).isTensor()) return c.wholes(i);
  const at::Tensor list = c.torch(i).to(at::kCPU, at::kLong).contiguous();
  return {list.data_ptr<std::int64_t>(), list.data_ptr<std::int64_t>() + list.numel()};
}

// (log_probs, targets, input_lengths, target_lengths) from argument `first` on. Before state 0 of alpha lie two states
// that no path takes, and behind the last state of beta.
class Alignments {
 public:
  Alignments(const Call& c, std::size_t first, std::int64_t blank)
      : x(c.tensor(first)), lengths(lengths_of(c, first + 2)), label_counts_(lengths_of(c, first + 3)) {
    const Tensor targets = c.tensor(first + 1);
    need(x.dtype() == DType::f32 || x.dtype() == DType::f64, "log-probabilities that are neither float32 nor float64");
    if (x.dim() == 2) x = ops::unsqueeze(x, 1);
    need(x.dim() == 3 && x.numel() != 0 && targets.numel() != 0 && targets.dtype() == DType::i64 &&
             is_list_of(lengths, 1, x.size(0)) && is_list_of(label_counts_, 0, targets.size(-1)),
         "the sizes of ctc_loss");
    states = 2 * *std::max_element(label_counts_.begin(), label_counts_.end()) + 1;
    find_labels(targets, blank);
    emitted = ops::gather(x, 2, ops::expand(ops::unsqueeze(classes, 0), {x.size(0), x.size(1), states}));
  }

  // The logarithms of the chances of all beginnings of paths: (steps, rows, 2 + states).
  Tensor alpha() const {
    static const auto step =
        crisol::fuse([](const Expr& stay, const Expr& next, const Expr& jump, const Expr& may_jump,
                        const Expr& chance) { return logaddexp(logaddexp(stay, next), jump + may_jump) + chance; });
    const Tensor all = crisol::full({x.size(0), x.size(1), 2 + states}, no_chance, x.dtype(), x.device());
    const std::int64_t starts = std::min<std::int64_t>(states, 2);
    ops::copy_into(ops::narrow(ops::select(all, 0, 0), 1, 2, starts),
                   ops::narrow(ops::select(emitted, 0, 0), 1, 0, starts));
    for (std::int64_t t = 1; t < x.size(0); ++t) {
      const Tensor before = ops::select(all, 0, t - 1);
      const auto from = [&](std::int64_t state) { return ops::narrow(before, 1, state, states); };
      ops::copy_into(ops::narrow(ops::select(all, 0, t), 1, 2, states),
                     step(from(2), from(1), from(0), ops::narrow(jumps_, 1, 0, states), ops::select(emitted, 0, t)));
    }
    return all;
  }
  // The same of all ends of paths.
  Tensor beta() const {
    static const auto step = crisol::fuse([](const Expr& stay, const Expr& next, const Expr& jump, const Expr& may_jump,
                                             const Expr& chance, const Expr& last, const Expr& t) {
      return where(eq(last, t), chance, logaddexp(logaddexp(stay, next), jump + may_jump) + chance);
    });
    const std::int64_t steps = x.size(0);
    const Tensor all = crisol::full({steps + 1, x.size(1), 2 + states}, no_chance, x.dtype(), x.device());
    const Tensor last = last_steps();
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      const Tensor after = ops::select(all, 0, t + 1);
      const auto from = [&](std::int64_t state) { return ops::narrow(after, 1, state, states); };
      ops::copy_into(ops::narrow(ops::select(all, 0, t), 1, 0, states),
                     step(from(0), from(1), from(2), ops::narrow(jumps_, 1, 2, states), ops::select(emitted, 0, t),
                          last, static_cast<double>(t)));
    }
    return ops::narrow(ops::narrow(all, 0, 0, steps), 2, 0, states);
  }
  // The losses of the rows.
  Tensor losses(const Tensor& alpha) const {
    std::vector<std::int64_t> ends;
    for (const std::int64_t back : {0, 1})
      for (std::size_t n = 0; n < lengths.size(); ++n)
        ends.push_back(((lengths[n] - 1) * x.size(1) + static_cast<std::int64_t>(n)) * (2 + states) + 2 +
                       2 * label_counts_[n] - back);
    const Tensor values = ops::index_select(ops::reshape(alpha, {-1}), 0, from_host(ends));
    const auto half = [&](std::int64_t i) { return ops::narrow(values, 0, i * x.size(1), x.size(1)); };
    return ops::neg(ops::logaddexp(half(0), half(1)));
  }
  Tensor from_host(const std::vector<std::int64_t>& numbers) const {
    return crisol::from_vector(numbers, DType::i64, x.device());
  }

  Tensor x;                           // (steps, rows, classes)
  std::vector<std::int64_t> lengths;  // The steps of each row.
  std::int64_t states = 1;
  Tensor classes;  // Of each state: (rows, states).
  Tensor emitted;  // The logarithm of each state's chance: (steps, rows, states).

 private:
  bool is_list_of(const std::vector<std::int64_t>& list, std::int64_t least, std::int64_t most) const {
    return list.size() == static_cast<std::size_t>(x.size(1)) &&
           std::all_of(list.begin(), list.end(), [&](std::int64_t one) { return one >= least && one <= most; });
  }
  // Sets the classes of states, and the jumps over a blank: none between equal labels, and none from or to a blank.
  void find_labels(const Tensor& targets, std::int64_t blank) {
    std::vector<std::int64_t> places, is_label;
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < label_counts_.size(); ++n) {
      if (targets.dim() == 2) begin = static_cast<std::int64_t>(n) * targets.size(1);
      for (std::int64_t s = 0; s < states; ++s) {
        is_label.push_back(s % 2 == 1 && s / 2 < label_counts_[n]);
        places.push_back(is_label.back() ? begin + s / 2 : 0);
      }
      begin += label_counts_[n];
    }
    const Shape shape{x.size(1), states};
    const Tensor labels = ops::index_select(ops::reshape(targets, {-1}), 0, from_host(places));
    const Tensor chosen = ops::cast(from_host(is_label), DType::boolean);
    classes = ops::reshape(ops::where(chosen, labels, crisol::Scalar(blank)), shape);
    jumps_ = crisol::full({x.size(1), states + 2}, no_chance, x.dtype(), x.device());
    if (states < 3) return;
    const Tensor after = ops::narrow(classes, 1, 2, states - 2), before = ops::narrow(classes, 1, 0, states - 2);
    const Tensor allowed =
        ops::logical_and(ops::narrow(ops::reshape(chosen, shape), 1, 2, states - 2), ops::ne(after, before));
    ops::masked_fill_into(ops::narrow(jumps_, 1, 2, states - 2), ops::narrow(jumps_, 1, 2, states - 2), allowed, 0.0);
  }
  // For each state at which a path may end its last step, else -1.
  Tensor last_steps() const {
    std::vector<double> last;
    for (std::size_t n = 0; n < lengths.size(); ++n)
      for (std::int64_t s = 0; s < states; ++s) {
        const std::int64_t back = 2 * label_counts_[n] - s;
        last.push_back(back == 0 || back == 1 ? static_cast<double>(lengths[n] - 1) : -1);
      }
    return crisol::from_vector(last, {x.size(1), states}, x.dtype(), x.device());
  }

  std::vector<std::int64_t> label_counts_;
  Tensor jumps_;  // What a jump to each state adds: 0, or -inf for no jump. (rows, states + 2)
};

// (log_probs, targets, input_lengths, target_lengths, blank, zero_infinity). PyTorch itself changes infinite losses to
// zeros. Gives the losses, and alpha for the gradient.
Results ctc_loss(const Call& c) {
  const Alignments a(c, 0, c.whole(4));
  const Tensor alpha = a.alpha(), losses = a.losses(alpha);
  return {wrap(c.torch(0).dim() == 2 ? ops::reshape(losses, {}) : losses),
          wrap(ops::transpose(ops::narrow(alpha, 2, 2, a.states), 0, 1))};
}
// (dy, log_probs, targets, input_lengths, target_lengths, losses, alpha, blank, zero_infinity)
Tensor ctc_loss_backward(const Call& c) {
  static const auto chances = crisol::fuse([](const Expr& alpha, const Expr& beta, const Expr& chance,
                                              const Expr& loss) { return exp(alpha + beta - chance + loss); });
  static const auto difference = crisol::fuse([](const Expr& x, const Expr& taken, const Expr& dy, const Expr& counts) {
    return where(counts, (exp(x) - taken) * dy, 0.0);
  });
  const Alignments a(c, 1, c.whole(7));
  const std::int64_t steps = a.x.size(0), rows = a.x.size(1);
  const Tensor losses = ops::reshape(c.tensor(5), {1, rows, 1}), dy = ops::reshape(c.tensor(0), {-1, 1});
  // How likely each step is in each state, given the labels.
  const Tensor likely = chances(ops::transpose(c.tensor(6), 0, 1), a.beta(), a.emitted, losses);
  const Tensor index = ops::expand(ops::unsqueeze(a.classes, 0), {steps, rows, a.states});
  const Tensor taken = ops::scatter_add(crisol::zeros(a.x.shape(), a.x.dtype(), a.x.device()), 2, index, likely);
  Tensor counts =
      ops::lt(crisol::arange(0, static_cast<double>(steps), 1, DType::i64, a.x.device()).reshape({-1, 1, 1}),
              ops::reshape(a.from_host(a.lengths), {1, rows, 1}));
  if (c.flag(8)) counts = ops::logical_and(counts, ops::ne(losses, -no_chance));
  return ops::reshape(difference(a.x, taken, dy, counts), shape_of(c.torch(1).sizes()));
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
      {"_ctc_loss", ctc_loss},
      {"_ctc_loss.Tensor", ctc_loss},
      {"_ctc_loss_backward", gives(ctc_loss_backward)},
      {"_ctc_loss_backward.Tensor", gives(ctc_loss_backward)},
      {"multilabel_margin_loss_forward", multilabel_margin_loss},
      {"multilabel_margin_loss_backward", gives(multilabel_margin_loss_backward)},
      {"binary_cross_entropy", gives(binary_cross_entropy)},
      {"binary_cross_entropy_backward", gives(binary_cross_entropy_backward)},
  };
}

}  // namespace crisol_torch
