#include "crisol/functions/loss.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/softmax.h"
#include "crisol/ops/loss.h"
#include "functions/gradients.h"
#include "functions/loss/reduced.h"
#include "ops/storage.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::raw_or_composed;
using autograd::Saved;
using autograd::unnoted;

namespace {

// Kernels add up losses in f32. The functions round the sum to the type of the input. Losses of f64 are made of other
// functions.

/// Checks the input of a loss of labels. Its other arguments are checked by the functions that are called.
void check_scores(const char* op, const Tensor& x, const Tensor& labels) {
  require(is_floating(x.dtype()), op, "the input must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require(x.dim() == 2 && x.size(1) > 0, op, "the input must be (N, C), its shape is ", x.shape());
  ops::require_shape(op, "the label tensor", labels, {x.size(0)});
}

/// nll_loss, made of differentiable functions.
Tensor composed_nll(const Tensor& x, const Tensor& labels, Reduction reduction, std::int64_t ignore_index) {
  const Tensor counts = ne(labels, ignore_index), classes = where(counts, labels, 0).to(labels.dtype());
  const Tensor losses = where(counts, -gather(x, 1, classes.unsqueeze(1)).squeeze(1), 0.0);
  if (reduction == Reduction::mean) return sum(losses) / sum(counts).to(x.dtype());
  return reduced(losses, reduction);
}

/// cross_entropy, made of differentiable functions, for gradients of gradients.
Tensor composed_cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& o) {
  const Tensor rows = log_softmax(logits.to(promote_types(logits.dtype(), DType::f32)), 1);
  const Tensor of_label = nll_loss(rows, labels, o.reduction, o.ignore_index);
  if (o.label_smoothing == 0) return of_label;
  // The mean over the classes, for the rows that are not ignored.
  const Tensor counts = ne(labels, o.ignore_index).to(rows.dtype());
  Tensor smooth = neg(mean(rows, {1})) * counts;
  if (o.reduction != Reduction::none) smooth = sum(smooth);
  if (o.reduction == Reduction::mean) smooth = smooth / sum(counts);
  return of_label * (1 - o.label_smoothing) + smooth * o.label_smoothing;
}

/// The gradient of nll_loss, which has a gradient itself. It is linear in dy, so its gradient is the loss again.
Tensor nll_gradient(const Tensor& dy, const Tensor& labels, const Tensor& scale, std::int64_t classes,
                    Reduction reduction, std::int64_t ignore_index) {
  return call("nll_loss_backward", {dy}, ops::nll_loss_backward(dy, labels, scale, classes, reduction, ignore_index),
              unnoted, [&] {
                return [labels = Saved(labels), reduction, ignore_index](const Tensor& ddx) {
                  return nll_loss(ddx, labels.get(), reduction, ignore_index).to(DType::f32);
                };
              });
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  if (const autograd::Autocasts casts("cross_entropy"); casts) return cross_entropy(casts(logits), labels, options);
  if (logits.defined() && is_floating(logits.dtype()) && !computes_in_f32(logits.dtype())) {
    check_scores("cross_entropy", logits, labels);
    return composed_cross_entropy(logits, labels, options);
  }
  ops::require_storage("cross_entropy", "the input", logits);
  const ops::CrossEntropyResult result = ops::cross_entropy(logits, labels, options);
  const Tensor loss = call("cross_entropy", {logits}, result.loss, unnoted, [&] {
    // Keeps only the parts of the result that backward reads. Keeping the loss too would make a reference cycle.
    const ops::CrossEntropyResult kept{Tensor(), result.moments, result.scale};
    return [logits = Saved(logits), labels = Saved(labels), kept, options](const Tensor& dy, Needs needs) {
      const Tensor &x = logits.get(), &of = labels.get();
      return raw_or_composed(
          {dy, x}, [&] { return Gradients{ops::cross_entropy_backward(dy, x, of, kept, options)}; },
          [&] {
            const auto composed = [&](const std::vector<Tensor>& in) {
              return Gradients{composed_cross_entropy(in[0], of, options)};
            };
            return autograd::gradients_of(composed, {x}, {dy}, needs);
          });
    };
  });
  return loss.to(logits.dtype());
}

Tensor nll_loss(const Tensor& x, const Tensor& labels, Reduction reduction, std::int64_t ignore_index) {
  if (const autograd::Autocasts casts("nll_loss"); casts) return nll_loss(casts(x), labels, reduction, ignore_index);
  if (x.defined() && is_floating(x.dtype()) && !computes_in_f32(x.dtype())) {
    check_scores("nll_loss", x, labels);
    return composed_nll(x, labels, reduction, ignore_index);
  }
  ops::require_storage("nll_loss", "the input", x);
  const ops::NllResult result = ops::nll_loss(x, labels, reduction, ignore_index);
  const Tensor loss = call("nll_loss", {x}, result.loss, unnoted, [&] {
    return [labels = Saved(labels), scale = Saved(result.scale), classes = x.size(1), type = x.dtype(), reduction,
            ignore_index](const Tensor& dy) {
      return nll_gradient(dy, labels.get(), scale.get(), classes, reduction, ignore_index).to(type);
    };
  });
  return loss.to(x.dtype());
}

namespace {

// The gradient of mse_loss with respect to x. The gradient with respect to the target is its negative.
Tensor mse_loss_backward(const Tensor& dy, const Tensor& x, const Tensor& target, Reduction reduction) {
  return raw_or_composed(
      {dy, x, target}, [&] { return ops::mse_loss_backward(dy, x, target, reduction); },
      [&] {
        const double scale = reduction == Reduction::mean ? 2.0 / static_cast<double>(x.numel()) : 2.0;
        return ((x - target) * (dy * scale)).to(x.dtype());
      });
}

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  if (const autograd::Autocasts casts("mse_loss"); casts) return mse_loss(casts(x), casts(target), reduction);
  if (x.defined() && is_floating(x.dtype()) && !computes_in_f32(x.dtype())) {
    ops::require_operand("mse_loss", "the input", x, "the target", target, x.shape(), x.dtype());
    return reduced(square(x - target), reduction);
  }
  ops::require_storage("mse_loss", "the input", x);
  const Tensor loss = call("mse_loss", {x, target}, ops::mse_loss(x, target, reduction), unnoted, [&] {
    return [x = Saved(x), target = Saved(target), reduction](const Tensor& dy, Needs needs) {
      Gradients gradients(2);
      const Tensor dx = mse_loss_backward(dy, x.get(), target.get(), reduction);
      if (needs[0]) gradients[0] = dx;
      if (needs[1]) gradients[1] = neg(dx);
      return gradients;
    };
  });
  return loss.to(x.dtype());
}

}  // namespace crisol
