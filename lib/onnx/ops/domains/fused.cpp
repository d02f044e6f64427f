#include "onnx/ops/domains/fused.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using Settings = std::vector<double>;

struct NamedActivation {
  const char* name;
  Settings defaults;
  Tensor (*f)(const Tensor& x, const Settings& n);
};

const std::vector<NamedActivation>& all_activations() {
  constexpr double largest = std::numeric_limits<float>::max();
  static const std::vector<NamedActivation> all{
      {"", {}, [](const Tensor& x, const Settings&) { return x; }},
      {"Clip", {-largest, largest}, [](const Tensor& x, const Settings& n) { return clamp(x, n[0], n[1]); }},
      {"Elu", {1}, [](const Tensor& x, const Settings& n) { return elu(x, n[0]); }},
      {"Gelu", {}, [](const Tensor& x, const Settings&) { return gelu(x); }},
      {"HardSigmoid", {0.2f, 0.5}, [](const Tensor& x, const Settings& n) { return clamp(x * n[0] + n[1], 0, 1); }},
      {"HardSwish", {}, [](const Tensor& x, const Settings&) { return hard_swish(x); }},
      {"LeakyRelu", {0.01f}, [](const Tensor& x, const Settings& n) { return leaky_relu(x, n[0]); }},
      {"QuickGelu", {1.702f}, [](const Tensor& x, const Settings& n) { return x * sigmoid(x * n[0]); }},
      {"Relu", {}, [](const Tensor& x, const Settings&) { return relu(x); }},
      {"Selu",
       {1.67326319217681884765625, 1.05070102214813232421875},
       [](const Tensor& x, const Settings& n) { return n[1] * where(x.gt(0), x, n[0] * expm1(x)); }},
      {"Sigmoid", {}, [](const Tensor& x, const Settings&) { return sigmoid(x); }},
      {"Softplus", {}, [](const Tensor& x, const Settings&) { return softplus(x); }},
      {"Softsign", {}, [](const Tensor& x, const Settings&) { return x / (abs(x) + 1.0); }},
      {"Tanh", {}, [](const Tensor& x, const Settings&) { return tanh(x); }},
      {"ThresholdedRelu", {1}, [](const Tensor& x, const Settings& n) { return where(x.gt(n[0]), x, 0); }},
  };
  return all;
}

}  // namespace

FusedActivation::FusedActivation(const std::string& name) : name_(name) {
  const std::vector<NamedActivation>& all = all_activations();
  const auto known = std::find_if(all.begin(), all.end(), [&](const NamedActivation& one) { return one.name == name; });
  require(known != all.end(), "onnx", "the activation ", file::in_quotes(name), " is not supported");
  numbers_ = known->defaults;
  f_ = known->f;
}

void FusedActivation::set(const Settings& numbers) {
  require(numbers.size() == numbers_.size(), "onnx", numbers.size(), " activation_params of ", name_, ", ",
          numbers_.size(), " expected");
  numbers_ = numbers;
}

void FusedActivation::set(std::size_t i, double number) {
  if (i < numbers_.size()) numbers_[i] = number;
}

FusedActivation activation_of_convolution(Call& call) {
  FusedActivation activation(call.text("activation", ""));
  activation.set(call.reals("activation_params"));
  return activation;
}

graph::Run build_as(const char* op, Call& call) {
  call.use_version(newest_version);
  return find_row("", op, newest_version)->build(call);
}

}  // namespace crisol::onnx
