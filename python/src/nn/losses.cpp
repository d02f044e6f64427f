// Losses with PyTorch's argument names and defaults.
#include "bindings.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using OptionalTensor = std::optional<Tensor>;

void bind_losses_of_labels(nb::module_& m) {
  m.def(
      "cross_entropy",
      [](const Tensor& x, const Tensor& target, std::int64_t ignore_index, Reduction reduction, double smoothing) {
        return cross_entropy(x, target, {reduction, smoothing, ignore_index});
      },
      "input"_a, "target"_a, nb::kw_only(), "ignore_index"_a = -100, "reduction"_a = Reduction::mean,
      "label_smoothing"_a = 0.0, Unlocked(),
      "log(sum(exp(row))) - row[label] of logits (N, C) and labels (N). reduction is \"mean\", \"sum\" or \"none\".");
  m.def(
      "nll_loss",
      [](const Tensor& x, const Tensor& target, std::int64_t ignore_index, Reduction reduction) {
        return nll_loss(x, target, reduction, ignore_index);
      },
      "input"_a, "target"_a, nb::kw_only(), "ignore_index"_a = -100, "reduction"_a = Reduction::mean, Unlocked(),
      "-row[label] of log-probabilities (N, C) and labels (N).");
  m.def(
      "mse_loss",
      [](const Tensor& x, const Tensor& target, Reduction reduction) { return mse_loss(x, target, reduction); },
      "input"_a, "target"_a, nb::kw_only(), "reduction"_a = Reduction::mean, Unlocked(),
      "(input - target)² of tensors of one shape, or the mean or the sum of it.");
}

void bind_losses_of_elements(nb::module_& m) {
  m.def("l1_loss", &l1_loss, "input"_a, "target"_a, "reduction"_a = Reduction::mean, Unlocked(),
        "|input - target|, or its mean or sum.");
  m.def("smooth_l1_loss", &smooth_l1_loss, "input"_a, "target"_a, "reduction"_a = Reduction::mean, "beta"_a = 1.0,
        Unlocked(), "d² / (2 beta) if d = |input - target| is below beta, otherwise d - beta / 2.");
  m.def("huber_loss", &huber_loss, "input"_a, "target"_a, "reduction"_a = Reduction::mean, "delta"_a = 1.0, Unlocked(),
        "d² / 2 if d = |input - target| is at most delta, otherwise delta (d - delta / 2).");
  m.def("kl_div", &kl_div, "input"_a, "target"_a, "reduction"_a = Reduction::mean, "log_target"_a = false, Unlocked(),
        "target (log(target) - input) for log-probabilities `input`.");
  m.def(
      "poisson_nll_loss",
      [](const Tensor& x, const Tensor& target, Reduction reduction, bool log_input, bool full, double eps) {
        return poisson_nll_loss(x, target, {reduction, log_input, full, eps});
      },
      "input"_a, "target"_a, "reduction"_a = Reduction::mean, "log_input"_a = true, "full"_a = false, "eps"_a = 1e-8,
      Unlocked(), "exp(input) - target · input, or without log_input input - target · log(input + eps).");
  m.def(
      "gaussian_nll_loss",
      [](const Tensor& x, const Tensor& target, const Tensor& var, Reduction reduction, bool full, double eps) {
        return gaussian_nll_loss(x, target, var, {reduction, full, eps});
      },
      "input"_a, "target"_a, "var"_a, "reduction"_a = Reduction::mean, "full"_a = false, "eps"_a = 1e-6, Unlocked(),
      "(log(var) + (input - target)² / var) / 2, where var is at least eps.");
  m.def("hinge_embedding_loss", &hinge_embedding_loss, "input"_a, "target"_a, "reduction"_a = Reduction::mean,
        "margin"_a = 1.0, Unlocked(), "input where the target is 1, and max(margin - input, 0) where it is -1.");
  m.def("soft_margin_loss", &soft_margin_loss, "input"_a, "target"_a, "reduction"_a = Reduction::mean, Unlocked(),
        "log(1 + exp(-target · input)).");
}

void bind_losses_of_probabilities(nb::module_& m) {
  m.def(
      "binary_cross_entropy",
      [](const Tensor& x, const Tensor& target, const OptionalTensor& weight, Reduction reduction) {
        return binary_cross_entropy(x, target, reduction, or_undefined(weight));
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), "reduction"_a = Reduction::mean, Unlocked(),
      "-(target log(input) + (1 - target) log(1 - input)) for probabilities `input`.");
  m.def(
      "binary_cross_entropy_with_logits",
      [](const Tensor& x, const Tensor& target, const OptionalTensor& weight, Reduction reduction,
         const OptionalTensor& pos_weight) {
        return binary_cross_entropy_with_logits(x, target, reduction, or_undefined(weight), or_undefined(pos_weight));
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), "reduction"_a = Reduction::mean, "pos_weight"_a = nb::none(),
      Unlocked(), "binary_cross_entropy() of sigmoid(input), without overflow.");
}

void bind_losses_of_pairs(nb::module_& m) {
  m.def("margin_ranking_loss", &margin_ranking_loss, "input1"_a, "input2"_a, "target"_a,
        "reduction"_a = Reduction::mean, "margin"_a = 0.0, Unlocked(), "max(-target (input1 - input2) + margin, 0).");
  m.def("cosine_similarity", &cosine_similarity, "x1"_a, "x2"_a, "dim"_a = 1, "eps"_a = 1e-8, Unlocked(),
        "x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along an axis.");
  m.def("cosine_embedding_loss", &cosine_embedding_loss, "input1"_a, "input2"_a, "target"_a,
        "reduction"_a = Reduction::mean, "margin"_a = 0.0, Unlocked(),
        "1 - cos(input1, input2) where the target is 1, and max(cos - margin, 0) where it is -1.");
  m.def("pairwise_distance", &pairwise_distance, "x1"_a, "x2"_a, "p"_a = 2.0, "eps"_a = 1e-6, "keepdim"_a = false,
        Unlocked(), "The p-norm of x1 - x2 + eps along the last axis.");
  m.def(
      "triplet_margin_loss",
      [](const Tensor& anchor, const Tensor& positive, const Tensor& negative, Reduction reduction, double margin,
         double p, double eps, bool swap) {
        return triplet_margin_loss(anchor, positive, negative, {reduction, margin, p, eps, swap});
      },
      "anchor"_a, "positive"_a, "negative"_a, "reduction"_a = Reduction::mean, "margin"_a = 1.0, "p"_a = 2.0,
      "eps"_a = 1e-6, "swap"_a = false, Unlocked(), "max(|anchor - positive| - |anchor - negative| + margin, 0).");
}

}  // namespace

void bind_losses(nb::module_& m) {
  bind_losses_of_labels(m);
  bind_losses_of_elements(m);
  bind_losses_of_probabilities(m);
  bind_losses_of_pairs(m);
}

}  // namespace crisol::python
