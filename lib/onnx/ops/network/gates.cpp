#include "onnx/ops/network/gates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

constexpr double must_be_given = std::numeric_limits<double>::quiet_NaN();

/// An activation of ONNX. It uses the first `parameters` of alpha and beta. Their defaults are those of the op with
/// this name.
struct Formula {
  const char* name;
  int parameters;
  double alpha, beta;
  Tensor (*f)(const Tensor& x, double alpha, double beta);
};

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> all{
      {"Affine", 2, must_be_given, must_be_given, [](const Tensor& x, double a, double b) { return x * a + b; }},
      {"Elu", 1, 1, 0, [](const Tensor& x, double a, double) { return elu(x, a); }},
      {"HardSigmoid", 2, 0.2f, 0.5, [](const Tensor& x, double a, double b) { return clamp(x * a + b, 0, 1); }},
      {"LeakyRelu", 1, 0.01f, 0, [](const Tensor& x, double a, double) { return leaky_relu(x, a); }},
      {"Relu", 0, 0, 0, [](const Tensor& x, double, double) { return relu(x); }},
      {"ScaledTanh", 2, must_be_given, must_be_given,
       [](const Tensor& x, double a, double b) { return tanh(x * b) * a; }},
      {"Sigmoid", 0, 0, 0, [](const Tensor& x, double, double) { return sigmoid(x); }},
      {"Softplus", 0, 0, 0, [](const Tensor& x, double, double) { return softplus(x); }},
      {"Softsign", 0, 0, 0, [](const Tensor& x, double, double) { return x / (x.abs() + 1.0); }},
      {"Tanh", 0, 0, 0, [](const Tensor& x, double, double) { return tanh(x); }},
      {"ThresholdedRelu", 1, 1, 0, [](const Tensor& x, double a, double) { return where(x.ge(a), x, 0); }},
  };
  return all;
}

/// Takes the next number of a list, or `otherwise` if the list is used up.
double take(const std::vector<double>& numbers, std::size_t& next, double otherwise) {
  return next < numbers.size() ? numbers[next++] : otherwise;
}

Tensor clipped(const Tensor& x, const std::optional<double>& clip) { return clip ? clamp(x, -*clip, *clip) : x; }

/// Block i of the columns. Each block is as wide as the state.
Tensor gate(const Tensor& x, int i, const Tensor& h) { return x.narrow(1, i * h.size(1), h.size(1)); }
/// The rows of block `first` to block `last`.
Tensor rows(const Tensor& x, int first, int last, const Tensor& h) {
  return x.defined() ? x.narrow(0, first * h.size(1), (last - first) * h.size(1)) : x;
}

}  // namespace

std::vector<std::vector<GateFunction>> read_activations(Call& call, const std::vector<std::string>& defaults,
                                                        int directions) {
  std::vector<std::string> names = call.texts("activations");
  const std::vector<double> alphas = call.reals("activation_alpha"), betas = call.reals("activation_beta");
  if (names.empty())
    for (int i = 0; i < directions; ++i) names.insert(names.end(), defaults.begin(), defaults.end());
  const std::size_t each = defaults.size();
  require(names.size() == each * static_cast<std::size_t>(directions), "onnx", names.size(), " activations, ",
          each * static_cast<std::size_t>(directions), " expected");
  std::vector<std::vector<GateFunction>> result(static_cast<std::size_t>(directions));
  std::size_t next_alpha = 0, next_beta = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto formula =
        std::find_if(formulas().begin(), formulas().end(), [&](const Formula& one) { return one.name == names[i]; });
    require(formula != formulas().end(), "onnx", "the activation ", file::in_quotes(names[i]), " is not supported");
    const double alpha = formula->parameters > 0 ? take(alphas, next_alpha, formula->alpha) : 0;
    const double beta = formula->parameters > 1 ? take(betas, next_beta, formula->beta) : 0;
    require(!std::isnan(alpha) && !std::isnan(beta), "onnx", "the activation ", names[i],
            " needs activation_alpha and activation_beta");
    result[i / each].push_back({names[i], [=, f = formula->f](const Tensor& x) { return f(x, alpha, beta); }});
  }
  return result;
}

RnnOutput walk(const RnnInput& input, const RnnWeights& weights, bool reverse, const Step& step) {
  const std::int64_t steps = input.x.size(0), batch = input.x.size(1), hidden = weights.weight_hh.size(1);
  const Tensor products = linear(input.x, weights.weight_ih, weights.bias_ih);
  const Tensor nothing = zeros({batch, hidden}, DType::f32, input.x.device());
  State state{input.h0.defined() ? input.h0 : nothing, input.c0.defined() ? input.c0 : nothing};
  std::vector<Tensor> y(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = reverse ? steps - 1 - i : i;
    State next = step(products.select(0, t), state);
    Tensor& result = y[static_cast<std::size_t>(t)];
    result = next.h;
    if (input.lengths.defined()) {
      const Tensor is_inside = input.lengths.gt(t).unsqueeze(1);
      result = where(is_inside, next.h, 0);
      next.h = where(is_inside, next.h, state.h);
      if (next.c.defined()) next.c = where(is_inside, next.c, state.c);
    }
    state = next;
  }
  return {stack(y, 0), state.h, state.c};
}

Step simple_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip) {
  return [=](const Tensor& product, const State& before) -> State {
    return {f[0].f(clipped(product + linear(before.h, weights.weight_hh, weights.bias_hh), clip)), Tensor()};
  };
}

Step gru_step(const RnnWeights& weights, const std::vector<GateFunction>& f, std::optional<double> clip,
              bool resets_last) {
  return [=](const Tensor& product, const State& before) -> State {
    const Tensor& h = before.h;
    const int last = resets_last ? 3 : 2;
    const Tensor of_state = linear(h, rows(weights.weight_hh, 0, last, h), rows(weights.bias_hh, 0, last, h));
    const auto sigma = [&](int i) { return f[0].f(clipped(gate(product, i, h) + gate(of_state, i, h), clip)); };
    const Tensor z = sigma(0), r = sigma(1);
    const Tensor inner = resets_last ? r * gate(of_state, 2, h)
                                     : linear(r * h, rows(weights.weight_hh, 2, 3, h), rows(weights.bias_hh, 2, 3, h));
    const Tensor n = f[1].f(clipped(gate(product, 2, h) + inner, clip));
    return {n + z * (h - n), Tensor()};
  };
}

Step lstm_step(const RnnWeights& weights, const Tensor& peepholes, const std::vector<GateFunction>& f,
               std::optional<double> clip, bool couples_gates) {
  return [=](const Tensor& product, const State& before) -> State {
    const Tensor& h = before.h;
    const Tensor sums = product + linear(h, weights.weight_hh, weights.bias_hh);
    const auto sigma = [&](int i, const Tensor& cell) {
      Tensor a = gate(sums, i, h);
      if (peepholes.defined()) a = a + rows(peepholes, i, i + 1, h) * cell;
      return f[0].f(clipped(a, clip));
    };
    const Tensor i = sigma(0, before.c), forget = couples_gates ? 1 - i : sigma(2, before.c);
    const Tensor c = forget * before.c + i * f[1].f(clipped(gate(sums, 3, h), clip));
    return {sigma(1, c) * f[2].f(c), c};
  };
}

}  // namespace crisol::onnx
