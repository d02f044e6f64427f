#include "support/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "autograd/node.h"
#include "crisol/functions/cat.h"
#include "doctest/doctest.h"
#include "support/skip.h"

namespace crisol::testing {

namespace {

std::vector<float> weights_for(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> weights(static_cast<std::size_t>(count));
  for (float& w : weights) w = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return weights;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

class Checker {
 public:
  Checker(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
          const GradcheckOptions& options)
      : f_(f), options_(options) {
    for (const Tensor& input : inputs)
      inputs_.push_back(input.defined() && !is_parameter(input) ? input.detach() : input);
  }

  void run() {
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs_) {
      leaves.push_back(input.defined() && !is_parameter(input) ? input.detach() : input);
      autograd::clear_gradient(leaves.back());
      if (differentiable(input)) leaves.back().requires_grad_();
    }
    const Tensor result = f_(leaves);
    REQUIRE(result.requires_grad());
    weights_ = weights_for(result.numel(), 17);
    result.backward(from_vector(weights_, result.shape(), result.device()));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!differentiable(inputs_[i])) continue;
      CAPTURE(i);
      REQUIRE(leaves[i].grad().defined());
      REQUIRE(leaves[i].grad().shape() == inputs_[i].shape());
      check_input(i, leaves[i].grad().to_vector<float>());
    }
  }

 private:
  static bool differentiable(const Tensor& x) { return x.defined() && x.dtype() == DType::f32 && x.numel() > 0; }

  static bool is_parameter(const Tensor& x) { return x.defined() && x.is_leaf() && x.requires_grad(); }

  // The weighted result with input i moved by `amount` along `direction`.
  double value(std::size_t i, const std::vector<float>& direction, double amount) const {
    const NoGrad no_grad;
    std::vector<Tensor> moved = inputs_;
    std::vector<float> values = inputs_[i].to_vector<float>();
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<float>(static_cast<double>(values[k]) + amount * static_cast<double>(direction[k]));
    if (!is_parameter(inputs_[i])) {
      moved[i] = from_vector(values, inputs_[i].shape(), inputs_[i].device());
      return dot(f_(moved).to_vector<float>(), weights_);
    }
    Tensor parameter = inputs_[i];
    const std::vector<float> before = parameter.to_vector<float>();
    parameter.copy_from(values);
    const double result = dot(f_(moved).to_vector<float>(), weights_);
    parameter.copy_from(before);
    return result;
  }

  void check_direction(std::size_t i, const std::vector<float>& gradient, const std::vector<float>& direction,
                       double scale) const {
    const double h = options_.step;
    const double numeric = (value(i, direction, h) - value(i, direction, -h)) / (2 * h);
    const double analytic = dot(gradient, direction);
    CAPTURE(analytic);
    CAPTURE(numeric);
    CHECK(std::abs(analytic - numeric) <= options_.tolerance * scale);
  }

  void check_input(std::size_t i, const std::vector<float>& gradient) const {
    double largest = 0;
    for (const float g : gradient) {
      REQUIRE(std::isfinite(g));
      largest = std::max(largest, std::abs(static_cast<double>(g)));
    }
    const std::size_t count = gradient.size();
    const int elements = slow_launches() ? std::min(options_.elements, 2) : options_.elements;
    const std::size_t stride = std::max<std::size_t>(1, count / static_cast<std::size_t>(elements));
    for (std::size_t k = 0; k < count; k += stride) {
      CAPTURE(k);
      std::vector<float> direction(count, 0.0f);
      direction[k] = 1.0f;
      check_direction(i, gradient, direction, 1 + largest);
    }
    // A direction of length 1. The same step then moves each element less, and the derivative is as large as for one
    // element.
    std::vector<float> direction = weights_for(static_cast<std::int64_t>(count), 29);
    const double length = std::sqrt(std::max(dot(direction, direction), 1e-30));
    for (float& d : direction) d = static_cast<float>(static_cast<double>(d) / length);
    check_direction(i, gradient, direction, 1 + std::sqrt(dot(gradient, gradient)));
  }

  const std::function<Tensor(const std::vector<Tensor>&)>& f_;
  std::vector<Tensor> inputs_;
  GradcheckOptions options_;
  std::vector<float> weights_;
};

}  // namespace

void check_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                     const GradcheckOptions& options) {
  Checker(f, inputs, options).run();
}

void check_gradients_of_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                  const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
  std::vector<Tensor> all = inputs;
  const Tensor y = f(inputs);
  all.push_back(from_vector(weights_for(y.numel(), 41), y.shape(), y.device()));
  const auto gradients = [&f](const std::vector<Tensor>& values) {
    const EnableGrad enable_grad;
    std::vector<Tensor> own(values.begin(), values.end() - 1), wanted;
    for (Tensor& input : own) {
      if (!input.defined() || input.dtype() != DType::f32) continue;
      if (!input.requires_grad()) input = input.detach().requires_grad_();
      wanted.push_back(input);
    }
    // The gradient of a linear function does not depend on its inputs. So the inputs take part themselves.
    std::vector<Tensor> flat;
    for (const Tensor& input : wanted) flat.push_back(input.flatten());
    for (const Tensor& gradient : grad({f(own)}, wanted, {.grad_outputs = {values.back()}, .create_graph = true}))
      flat.push_back(gradient.flatten());
    return cat(flat);
  };
  check_gradients(gradients, all, options);
}

}  // namespace crisol::testing
