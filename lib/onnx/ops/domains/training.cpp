// Gradients, and one step of an optimizer.
#include <functional>
#include <set>

#include "base/text.h"
#include "crisol/autograd.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::RunBody;

/// The derivatives of y with respect to each of xs. For this, y is computed again from the values of the node's inputs.
Run gradient(Call& call) {
  std::vector<std::string> names = call.texts("xs");
  const std::size_t count = names.size();
  require(count > 0, "onnx", "attribute xs is missing");
  require(call.has("y"), "onnx", "attribute y is missing");
  require(std::set<std::string>(names.begin(), names.end()).size() == count, "onnx", "xs names a value twice");
  for (std::string& name : call.texts("zs")) names.push_back(std::move(name));
  call.check_counts(names.size(), names.size(), count);
  for (std::size_t i = 0; i < count; ++i) call.require_floating(i);
  call.part(call.text("y", ""), names);
  for (std::size_t i = 0; i < call.outputs(); ++i) call.gives(i, call.input(i));
  call.set_control([count](const Data& in, const RunBody& run_body, Device device) {
    const bool has_own_gradient = grad_enabled();
    const EnableGrad enable;
    std::vector<Tensor> xs;
    Data arguments = in;
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor x = in[i].tensor(device);
      // If x itself wants a gradient, it stays connected to its graph, for an outer gradient.
      xs.push_back(x.requires_grad() ? x : x.detach().requires_grad_());
      arguments[i] = xs[i];
    }
    const Tensor y = run_body(0, std::move(arguments))[0].tensor(device);
    Data slopes;
    for (Tensor& slope :
         grad({y}, xs, {.grad_outputs = {ones_like(y)}, .create_graph = has_own_gradient, .allow_unused = true}))
      slopes.emplace_back(slope.defined() ? std::move(slope) : zeros_like(xs[slopes.size()]));
    return slopes;
  });
  return {};
}

/// Computes the new values of one parameter and of its state, from its value, gradient and state.
using Step = std::function<std::vector<Tensor>(const Tensor& rate, const Tensor& count, const std::vector<Tensor>&)>;

/// Inputs are the learning rate, the number of earlier steps, all parameters, all gradients, and then `states` more
/// tensors for each parameter. Outputs are all parameters, and then the states.
Run optimizer(Call& call, std::size_t states, const Step& step) {
  const std::size_t of_each = 2 + states, all = call.inputs() < 2 ? 0 : call.inputs() - 2;
  require(all > 0 && all % of_each == 0, "onnx", call.inputs(), " inputs, 2 and ", of_each,
          " for each parameter expected");
  const std::size_t parameters = all / of_each;
  call.check_counts(call.inputs(), call.inputs(), parameters * (1 + states));
  for (std::size_t i = 0; i < call.inputs(); ++i)
    if (i != 1) call.require_floating(i);
  for (std::size_t i = 0; i < call.outputs(); ++i) call.gives(i, call.input(2 + (i < parameters ? i : parameters + i)));
  return [=](const Data& in, Device device) {
    const Tensor rate = in[0].tensor(device), count = in[1].tensor(device).to(rate.dtype());
    Data results(parameters * (1 + states));
    for (std::size_t p = 0; p < parameters; ++p) {
      std::vector<Tensor> own;
      for (std::size_t k = 0; k < of_each; ++k) own.push_back(in[2 + k * parameters + p].tensor(device));
      const std::vector<Tensor> stepped = step(rate, count, own);
      for (std::size_t k = 0; k < stepped.size(); ++k) results[k * parameters + p] = stepped[k];
    }
    return results;
  };
}

Run momentum(Call& call) {
  require(call.has("alpha") && call.has("beta") && call.has("norm_coefficient") && call.has("mode"), "onnx",
          "attributes alpha, beta, norm_coefficient and mode are needed");
  const double alpha = call.real("alpha", 0), beta = call.real("beta", 0), decay = call.real("norm_coefficient", 0);
  const bool is_nesterov = call.text_of("mode", {"standard", "nesterov"}) == "nesterov";
  return optimizer(call, 1, [=](const Tensor& rate, const Tensor& count, const std::vector<Tensor>& in) {
    const Tensor g = decay * in[0] + in[1];
    const Tensor v = alpha * in[2] + where(gt(count, 0), full_like(count, beta), ones_like(count)) * g;
    return std::vector<Tensor>{in[0] - rate * (is_nesterov ? g + alpha * v : v), v};
  });
}

Run adagrad(Call& call) {
  const double decay = call.real("norm_coefficient", 0), rate_decay = call.real("decay_factor", 0);
  const double epsilon = call.real("epsilon", 1e-6);
  return optimizer(call, 1, [=](const Tensor& rate, const Tensor& count, const std::vector<Tensor>& in) {
    const Tensor g = decay * in[0] + in[1], h = in[2] + g * g;
    return std::vector<Tensor>{in[0] - rate / (1 + count * rate_decay) * g / (sqrt(h) + epsilon), h};
  });
}

Run adam(Call& call) {
  const double decay = call.real("norm_coefficient", 0), decay_after = call.real("norm_coefficient_post", 0);
  const double alpha = call.real("alpha", 0.9), beta = call.real("beta", 0.999), epsilon = call.real("epsilon", 1e-6);
  return optimizer(call, 2, [=](const Tensor& rate, const Tensor& count, const std::vector<Tensor>& in) {
    const Tensor g = decay * in[0] + in[1];
    const Tensor v = alpha * in[2] + (1 - alpha) * g, h = beta * in[3] + (1 - beta) * g * g;
    const auto correction = [&](double factor) { return 1 - pow(full_like(count, factor), count); };
    // In the first step, both corrections are 0.
    const Tensor adjusted = where(gt(count, 0), rate * sqrt(correction(beta)) / correction(alpha), rate);
    return std::vector<Tensor>{(1 - decay_after) * (in[0] - adjusted * v / (sqrt(h) + epsilon)), v, h};
  });
}

}  // namespace

std::vector<Row> training_rows() {
  constexpr std::int64_t newest = newest_training_version;
  constexpr const char* training = training_domain;
  return {
      {"Adagrad", 1, newest, adagrad, training},
      {"Adam", 1, newest, adam, training},
      {"Gradient", 1, newest, gradient, training},
      {"Momentum", 1, newest, momentum, training},
  };
}

}  // namespace crisol::onnx
