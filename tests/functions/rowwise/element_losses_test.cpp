// Losses that compare tensors element by element, or vectors in pairs.
#include <cmath>

#include "crisol/autocast.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

using Numbers = std::vector<double>;
using Loss = std::function<Tensor(const Tensor&, const Tensor&, Reduction)>;

/// Compares a loss of elements with a formula in double, for each reduction, and its gradients with finite differences.
/// No element is near a kink.
void check_loss(const Loss& loss, const Numbers& x, const Numbers& target,
                const std::function<double(double, double)>& formula, bool target_has_gradient = true) {
  Numbers losses;
  for (std::size_t i = 0; i < x.size(); ++i) losses.push_back(formula(x[i], target[i]));
  double total = 0;
  for (const double value : losses) total += value;
  const auto count = static_cast<std::int64_t>(x.size());
  const Tensor a = tensor_of(x, {count}), b = tensor_of(target, {count});
  check_close(loss(a, b, Reduction::none), {count}, losses, {64});
  check_close(loss(a, b, Reduction::sum), {}, {total}, {64});
  check_close(loss(a, b, Reduction::mean), {}, {total / static_cast<double>(count)}, {64});
  CHECK(loss(a.to(DType::f64), b.to(DType::f64), Reduction::mean).dtype() == DType::f64);
  const auto call = [&](const std::vector<Tensor>& in) {
    return loss(in[0], in.size() > 1 ? in[1] : b, Reduction::none);
  };
  check_gradients(call, target_has_gradient ? std::vector<Tensor>{a, b} : std::vector<Tensor>{a});
}

const Numbers some{-2.5, -0.7, 0.4, 1.3, 3.1}, others{0.5, -0.2, 0.9, -1.6, 0.3};
const Numbers signs{1, -1, -1, 1, -1}, shares{0.9, 0.2, 0.6, 0.35, 0.5};

}  // namespace

TEST_CASE("losses of distances: l1_loss, smooth_l1_loss and huber_loss") {
  check_loss([](auto& a, auto& b, Reduction r) { return l1_loss(a, b, r); }, some, others,
             [](double a, double b) { return std::abs(a - b); });
  check_loss([](auto& a, auto& b, Reduction r) { return smooth_l1_loss(a, b, r, 1.5); }, some, others,
             [](double a, double b) {
               const double d = std::abs(a - b);
               return d < 1.5 ? d * d / 3 : d - 0.75;
             });
  check_loss([](auto& a, auto& b, Reduction r) { return smooth_l1_loss(a, b, r, 0); }, some, others,
             [](double a, double b) { return std::abs(a - b); });
  check_loss([](auto& a, auto& b, Reduction r) { return huber_loss(a, b, r, 0.6); }, some, others,
             [](double a, double b) {
               const double d = std::abs(a - b);
               return d <= 0.6 ? d * d / 2 : 0.6 * (d - 0.3);
             });
  const double nan = std::nan("");
  Tensor x = tensor_of({nan}, {1}).requires_grad_();
  smooth_l1_loss(x, zeros({1})).backward();
  CHECK(std::isnan(x.grad().item()));
  check_error([] { smooth_l1_loss(ones({1}), ones({1}), Reduction::mean, -1); }, {"[smooth_l1_loss]", "-1"});
  check_error([] { huber_loss(ones({1}), ones({1}), Reduction::mean, 0); }, {"[huber_loss]", "delta is 0"});
  check_error([] { l1_loss(Tensor(), ones({1})); }, {"undefined"});
}

TEST_CASE("losses of probabilities: binary_cross_entropy, with logits, and kl_div") {
  const auto entropy = [](double p, double t) { return -(t * std::log(p) + (1 - t) * std::log(1 - p)); };
  check_loss([](auto& a, auto& b, Reduction r) { return binary_cross_entropy(a, b, r); }, {0.1, 0.3, 0.5, 0.7, 0.9},
             shares, entropy);
  check_loss([](auto& a, auto& b, Reduction r) { return binary_cross_entropy_with_logits(a, b, r); }, some, shares,
             [&](double x, double t) { return entropy(1 / (1 + std::exp(-x)), t); });
  const Tensor weight = full({5}, 2.0), positive = full({1}, 3.0);
  check_loss(
      [&](auto& a, auto& b, Reduction r) { return binary_cross_entropy_with_logits(a, b, r, weight, positive); }, some,
      shares,
      [](double x, double t) { return 2 * (3 * t * std::log1p(std::exp(-x)) + (1 - t) * std::log1p(std::exp(x))); });
  check_loss([](auto& a, auto& b, Reduction r) { return kl_div(a, b, r); }, some, shares,
             [](double x, double t) { return t * (std::log(t) - x); });
  check_loss([](auto& a, auto& b, Reduction r) { return kl_div(a, b, r, true); }, some, others,
             [](double x, double t) { return std::exp(t) * (t - x); });
  CHECK(kl_div(ones({2}), zeros({2}), Reduction::sum).item() == 0);
  // Logarithms of 0 are limited, and large logits do not overflow.
  CHECK(binary_cross_entropy(zeros({1}), ones({1})).item() == 100);
  CHECK(binary_cross_entropy_with_logits(full({1}, -1000.0), ones({1})).item() == 1000);
}

TEST_CASE("losses of probabilities: what is refused") {
  check_error([] { binary_cross_entropy(ones({2}), ones({1})); }, {"[binary_cross_entropy]", "(2)", "(1)"});
  check_error([] { binary_cross_entropy_with_logits(ones({2}), ones({3})); }, {"with_logits]", "(2)", "(3)"});
  check_error([] { binary_cross_entropy(Tensor(), ones({1})); }, {"[binary_cross_entropy]", "undefined"});
  check_error([] { binary_cross_entropy(full({1}, 1.5), ones({1})).item(); }, {"[binary_cross_entropy]", "1.5"});
  const Autocast autocast(DType::f16);
  check_error([] { binary_cross_entropy(ones({1}), ones({1})); }, {"[binary_cross_entropy]", "with_logits"});
  CHECK(binary_cross_entropy_with_logits(zeros({1}, DType::f16), ones({1})).dtype() == DType::f32);
  CHECK(l1_loss(zeros({1}, DType::f16), ones({1}, DType::f16)).dtype() == DType::f32);
}

TEST_CASE("losses of distributions: poisson_nll_loss and gaussian_nll_loss") {
  const Numbers counts{0, 1, 2, 3, 5}, rates{0.5, 0.7, 1.4, 2.3, 3.1}, variances{0.5, 2, 1, 0.3, 1.5};
  check_loss([](auto& a, auto& b, Reduction r) { return poisson_nll_loss(a, b, {.reduction = r}); }, others, counts,
             [](double x, double t) { return std::exp(x) - t * x; });
  check_loss(
      [](auto& a, auto& b, Reduction r) {
        return poisson_nll_loss(a, b, {r, false, true});
      },
      rates, counts,
      [](double x, double t) {
        const double stirling = t > 1 ? t * std::log(t) - t + std::log(2 * M_PI * t) / 2 : 0;
        return x - t * std::log(x + 1e-8) + stirling;
      },
      false);  // A target of 1 is at the border of Stirling's term.
  const Tensor var = tensor_of(variances, {5});
  for (const bool full_term : {false, true}) {
    Numbers expected;
    for (std::size_t i = 0; i < 5; ++i) {
      const double d = some[i] - others[i];
      expected.push_back((std::log(variances[i]) + d * d / variances[i] + (full_term ? std::log(2 * M_PI) : 0)) / 2);
    }
    check_close(gaussian_nll_loss(tensor_of(some, {5}), tensor_of(others, {5}), var, {Reduction::none, full_term}),
                expected, {64});
  }
  check_gradients([](const std::vector<Tensor>& in) { return gaussian_nll_loss(in[0], in[1], in[2]); },
                  {tensor_of(some, {5}), tensor_of(others, {5}), var});
  // A variance below eps counts as eps.
  CHECK(gaussian_nll_loss(ones({1}), zeros({1}), zeros({1}), {.eps = 0.5}).item() ==
        doctest::Approx((std::log(0.5) + 2) / 2));
}

TEST_CASE("losses of signs: hinge_embedding_loss, soft_margin_loss and margin_ranking_loss") {
  check_loss([](auto& a, auto& b, Reduction r) { return hinge_embedding_loss(a, b, r, 2); }, some, signs,
             [](double x, double t) { return t == 1 ? x : std::max(2 - x, 0.0); }, false);
  check_loss([](auto& a, auto& b, Reduction r) { return soft_margin_loss(a, b, r); }, some, signs,
             [](double x, double t) { return std::log1p(std::exp(-t * x)); }, false);
  const Tensor target = tensor_of(signs, {5});
  std::size_t at = 0;
  check_loss([&](auto& a, auto& b, Reduction r) { return margin_ranking_loss(a, b, target, r, 0.3); }, some, others,
             [&](double a, double b) { return std::max(-signs[at++] * (a - b) + 0.3, 0.0); });
}

TEST_CASE("losses of pairs of vectors: cosines and distances") {
  const Numbers a = random_values(1, 12), b = random_values(2, 12), c = random_values(3, 12);
  const Tensor x = tensor_of(a, {3, 4}), y = tensor_of(b, {3, 4}), z = tensor_of(c, {3, 4});
  const auto product = [](const Numbers& u, const Numbers& v, std::size_t row) {
    double total = 0;
    for (std::size_t i = 0; i < 4; ++i) total += u[4 * row + i] * v[4 * row + i];
    return total;
  };
  const auto distance = [](const Numbers& u, const Numbers& v, std::size_t row, double p) {
    double total = 0;
    for (std::size_t i = 0; i < 4; ++i) total += std::pow(std::abs(u[4 * row + i] - v[4 * row + i] + 1e-6), p);
    return std::pow(total, 1 / p);
  };
  const Numbers targets{1, -1, -1};
  Numbers cosines, embedding, distances, triplets, swapped;
  for (std::size_t row = 0; row < 3; ++row) {
    const double cosine = product(a, b, row) / std::sqrt(product(a, a, row) * product(b, b, row));
    cosines.push_back(cosine);
    embedding.push_back(targets[row] == 1 ? 1 - cosine : std::max(cosine + 0.5, 0.0));
    distances.push_back(distance(a, b, row, 3));
    const double near = distance(a, b, row, 2), far = distance(a, c, row, 2), other = distance(b, c, row, 2);
    triplets.push_back(std::max(near - far + 1.5, 0.0));
    swapped.push_back(std::max(near - std::min(far, other) + 1.5, 0.0));
  }
  check_close(cosine_similarity(x, y), {3}, cosines, {64});
  check_close(cosine_similarity(x.t(), y.t(), 0), {3}, cosines, {64});
  check_close(cosine_embedding_loss(x, y, tensor_of(targets, {3}), Reduction::none, -0.5), {3}, embedding, {64});
  check_close(pairwise_distance(x, y, 3, 1e-6, true), {3, 1}, distances, {64});
  check_close(triplet_margin_loss(x, y, z, {Reduction::none, 1.5}), {3}, triplets, {64});
  check_close(triplet_margin_loss(x, y, z, {.reduction = Reduction::none, .margin = 1.5, .swap = true}), {3}, swapped,
              {64});
  const Tensor t = tensor_of(targets, {3});
  check_gradients([](const std::vector<Tensor>& in) { return cosine_similarity(in[0], in[1]); }, {x, y});
  check_gradients(
      [&](const std::vector<Tensor>& in) { return cosine_embedding_loss(in[0], in[1], t, Reduction::sum, -2); },
      {x, y});
  check_gradients([](const std::vector<Tensor>& in) { return pairwise_distance(in[0], in[1]); }, {x, y});
  check_gradients([](const std::vector<Tensor>& in) { return triplet_margin_loss(in[0], in[1], in[2], {.margin = 9}); },
                  {x, y, z});
  CHECK(cosine_similarity(zeros({1, 2}), ones({1, 2})).item() == 0);  // The limit of the lengths.
  check_close(cosine_similarity(x, y.narrow(0, 0, 1)).narrow(0, 0, 1), {cosines[0]}, {64});
  check_error([&] { cosine_similarity(x, ones({2, 4})); }, {"[cosine_similarity]", "(3, 4)", "(2, 4)"});
}
