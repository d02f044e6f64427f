// Tensor::backward and grad.
#include "autograd/accumulate.h"
#include "autograd/after_backward.h"
#include "autograd/anomaly.h"
#include "autograd/engine.h"
#include "base/text.h"

namespace crisol {

using autograd::Engine;
using autograd::Node;

namespace {

// The checked gradient of an output, or ones if no gradient is given. `which` names the output in messages.
Tensor seed_of(const char* op, const std::string& which, const Tensor& output, const Tensor& gradient, bool linked) {
  require(output.defined() && output.requires_grad(), op, which, " does not depend on a leaf that wants a gradient");
  const Shape& shape = output.shape();
  if (!gradient.defined()) {
    require(output.numel() == 1, op, "a gradient must be given for a tensor of shape ", shape,
            ": only one element needs none");
    return ones(shape, output.dtype(), output.device());
  }
  require(gradient.shape() == shape && gradient.dtype() == output.dtype() && gradient.device() == output.device(), op,
          "the gradient has shape ", gradient.shape(), " and dtype ", gradient.dtype(), " on ", gradient.device(),
          ", the tensor ", shape, " and ", output.dtype(), " on ", output.device());
  if (detects_anomaly())
    require(autograd::is_finite(gradient), op, "the given gradient of shape ", shape, " holds NaN or infinity");
  return linked ? gradient : gradient.detach();
}

}  // namespace

void Tensor::backward(const Tensor& gradient, const BackwardOptions& options) const {
  constexpr const char* op = "backward";
  Tensor seed = seed_of(op, "the tensor", *this, gradient, options.create_graph);
  Engine(op, {options.retain_graph, options.create_graph}).run({*this}, {std::move(seed)});
}

void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  backward(gradient, BackwardOptions{retain_graph, false});
}

void call_after_backward(EndOfBackward function) {
  constexpr const char* op = "call_after_backward";
  require(function != nullptr, op, "the function is empty");
  autograd::AfterBackward* const running = autograd::AfterBackward::current();
  require(running != nullptr, op, "no backward() runs on this thread");
  running->add(std::move(function));
}

std::uint64_t element_version(const Tensor& x) {
  require(x.defined(), "element_version", "the tensor is undefined");
  return x.impl()->storage->version.load(std::memory_order_relaxed);
}

void set_grad(const Tensor& leaf, const Tensor& gradient) {
  constexpr const char* op = "set_grad";
  require(leaf.defined(), op, "the tensor is undefined");
  if (!gradient.defined()) return autograd::clear_gradient(leaf);
  require(leaf.is_leaf() && leaf.requires_grad(), op, "the tensor is no leaf that wants a gradient");
  require(gradient.shape() == leaf.shape() && gradient.dtype() == leaf.dtype() && gradient.device() == leaf.device(),
          op, "the gradient has shape ", gradient.shape(), " and dtype ", gradient.dtype(), " on ", gradient.device(),
          ", the leaf ", leaf.shape(), " and ", leaf.dtype(), " on ", leaf.device());
  const Tensor value = gradient.detach();
  autograd::clear_gradient(leaf);
  autograd::accumulate_leaf(*autograd::slot_of(leaf), Tensor(value));
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  constexpr const char* op = "grad";
  require(!outputs.empty() && !inputs.empty(), op, outputs.size(), " outputs and ", inputs.size(),
          " inputs; at least one of each is needed");
  require(options.grad_outputs.empty() || options.grad_outputs.size() == outputs.size(), op,
          options.grad_outputs.size(), " grad_outputs for ", outputs.size(), " outputs");
  Engine engine(op, {options.retain_graph, options.create_graph, options.allow_unused});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(inputs[i].defined() && inputs[i].requires_grad(), op, "input ", i, " wants no gradient");
    engine.capture(inputs[i]);
  }
  std::vector<Tensor> seeds;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    seeds.push_back(seed_of(op, concat("output ", i), outputs[i],
                            options.grad_outputs.empty() ? Tensor() : options.grad_outputs[i], options.create_graph));
  return engine.run(outputs, std::move(seeds));
}

}  // namespace crisol
