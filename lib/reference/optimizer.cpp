#include "reference/optimizer.h"

#include <algorithm>
#include <cmath>

namespace crisol::reference {

namespace {

void begin(OptimizerState& state) {
  ++state.t;
  for (std::vector<double>* buffer : {&state.means, &state.squares, &state.max_squares, &state.momenta})
    buffer->resize(state.parameters.size(), 0.0);
}

double directed(double gradient, bool maximize) { return maximize ? -gradient : gradient; }

}  // namespace

void sgd_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
              const ops::SgdRule& rule) {
  begin(state);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& p = state.parameters[i];
    double g = directed(gradients[i], rule.maximize) + rule.weight_decay * p;
    if (momentum != 0) {
      double& b = state.momenta[i];
      b = state.t == 1 ? g : momentum * b + (1 - rule.dampening) * g;
      g = rule.nesterov ? g + momentum * b : b;
    }
    p -= lr * g;
  }
}

void adam_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double beta1,
               const ops::AdamRule& rule, bool amsgrad) {
  begin(state);
  const double bias1 = 1 - std::pow(beta1, state.t);
  const double bias2 = 1 - std::pow(rule.beta2, state.t);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& p = state.parameters[i];
    double g = directed(gradients[i], rule.maximize);
    if (rule.decoupled)
      p -= lr * rule.weight_decay * p;
    else
      g += rule.weight_decay * p;
    double& m = state.means[i];
    double& v = state.squares[i];
    m = beta1 * m + (1 - beta1) * g;
    v = rule.beta2 * v + (1 - rule.beta2) * g * g;
    double& largest = state.max_squares[i];
    largest = std::max(largest, v);
    p -= lr * (m / bias1) / (std::sqrt((amsgrad ? largest : v) / bias2) + rule.eps);
  }
}

void lion_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double beta1,
               const ops::LionRule& rule) {
  begin(state);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& p = state.parameters[i];
    double& m = state.means[i];
    const double g = directed(gradients[i], rule.maximize);
    const double c = beta1 * m + (1 - beta1) * g;
    p -= lr * ((c > 0 ? 1 : c < 0 ? -1 : 0) + rule.weight_decay * p);
    m = rule.beta2 * m + (1 - rule.beta2) * g;
  }
}

void rmsprop_step(OptimizerState& state, const std::vector<double>& gradients, double lr, double momentum,
                  bool centered, const ops::RmspropRule& rule) {
  begin(state);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    double& p = state.parameters[i];
    const double g = directed(gradients[i], rule.maximize) + rule.weight_decay * p;
    double& v = state.squares[i];
    v = rule.alpha * v + (1 - rule.alpha) * g * g;
    double variance = v;
    if (centered) {
      double& a = state.means[i];
      a = rule.alpha * a + (1 - rule.alpha) * g;
      variance = v - a * a;
    }
    double u = g / (std::sqrt(variance) + rule.eps);
    if (momentum != 0) u = state.momenta[i] = momentum * state.momenta[i] + u;
    p -= lr * u;
  }
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace crisol::reference
