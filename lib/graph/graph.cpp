#include "graph/graph.h"

#include <algorithm>
#include <mutex>

#include "autograd/autocast.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/dtype_table.h"
#include "graph/passes/passes.h"
#include "graph/walk.h"
#include "ops/index/indexing.h"

namespace crisol::graph {

std::vector<SymbolicSize> sizes_of(const Shape& shape) {
  std::vector<SymbolicSize> sizes;
  sizes.reserve(static_cast<std::size_t>(shape.rank()));
  for (const std::int64_t size : shape) sizes.push_back({size, ""});
  return sizes;
}

/// Numbers on the host. They become a tensor when it is needed.
struct Datum::Host {
  const std::vector<std::int64_t> numbers;
  const Shape shape;
  const DType dtype;
  std::mutex mutex = {};
  Tensor tensor = {};
};

Datum::Datum(std::vector<std::int64_t> numbers, const Shape& shape, DType dtype)
    : host_(new Host{std::move(numbers), shape, dtype}) {}

Datum Datum::sequence(std::vector<Datum> elements) {
  Datum datum;
  datum.elements_ = std::make_shared<const std::vector<Datum>>(std::move(elements));
  return datum;
}

const Shape& Datum::shape() const { return on_host() ? host_->shape : own_tensor().shape(); }
DType Datum::dtype() const { return on_host() ? host_->dtype : own_tensor().dtype(); }

const Tensor& Datum::own_tensor() const {
  require(!is_sequence(), "graph", "a tensor is needed, and the value is a sequence of ",
          is_sequence() ? elements_->size() : 0, " elements");
  return tensor_;
}

Tensor Datum::tensor(Device device) const {
  if (!on_host()) {
    const Tensor& tensor = own_tensor();
    return tensor.defined() ? tensor.to(device) : tensor;
  }
  const std::lock_guard lock(host_->mutex);
  Tensor& tensor = host_->tensor;
  if (!tensor.defined() || tensor.device() != device)
    tensor = from_vector(host_->numbers, host_->shape, host_->dtype, device);
  return tensor;
}

std::vector<std::int64_t> Datum::numbers() const {
  if (on_host()) return host_->numbers;
  const Tensor& tensor = own_tensor();
  require(tensor.defined(), "graph", "whole numbers are needed, and the value is empty");
  require(!is_floating(tensor.dtype()), "graph", "whole numbers are needed, and the tensor is ", tensor.dtype());
  return tensor.to(DType::i64).to_vector<std::int64_t>();
}

double Datum::number() const {
  require(shape().numel() == 1, "graph", "one number is needed, and the shape is ", shape());
  if (on_host()) return static_cast<double>(host_->numbers.front());
  return number_ ? *number_ : own_tensor().item<double>();
}

bool may_be_shape(const Shape& shape, DType dtype) {
  const bool is_condition = dtype == DType::boolean && shape.numel() == 1;
  return (holds_counts(dtype) || is_condition) && shape.rank() <= 1 && shape.numel() <= 1024;
}

void Datum::remember() {
  if (!tensor_.defined()) return;
  if (may_be_shape(tensor_.shape(), tensor_.dtype()))
    *this = Datum(numbers(), tensor_.shape(), tensor_.dtype());
  else if (tensor_.numel() == 1 && !number_)
    number_ = tensor_.item<double>();
}

const std::vector<Datum>& Datum::elements() const {
  require(is_sequence(), "graph", "a sequence is needed, and the value is ", defined() ? "a tensor" : "empty");
  return *elements_;
}

namespace {

constexpr std::size_t unused = static_cast<std::size_t>(-1);

/// The position of the last node that needs each value. It is nodes.size() for outputs of the graph, and `unused` for
/// unused values.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.values.size(), unused);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const int input : graph.nodes[i].inputs)
      if (input != absent) last[static_cast<std::size_t>(input)] = i;
  for (const int output : graph.outputs)
    if (output != absent) last[static_cast<std::size_t>(output)] = graph.nodes.size();
  return last;
}

/// While this object lives, kernels may read kept packed copies only if the step pack_weights is enabled.
class Packing {
 public:
  Packing() : before_(thread_context().program.reads_packed) {
    thread_context().program.reads_packed = before_ && is_enabled(packing);
  }
  ~Packing() { thread_context().program.reads_packed = before_; }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

 private:
  const bool before_;
};

/// Runs a graph. Facts that are the same in all runs are computed once, because a loop runs one graph many times.
class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph), last_uses_(last_uses(graph)) {}

  Data run(Data inputs, const std::vector<Tensor>& weights, Device device,
           std::vector<std::pair<int, Datum>> replaced = {}, const RunNode& by = nullptr) const {
    Data data(graph_.values.size());
    const auto at = [&](int value) -> Datum& { return data[static_cast<std::size_t>(value)]; };
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) at(graph_.inputs[i]) = std::move(inputs[i]);
    for (std::size_t i = 0; i < graph_.weights.size(); ++i) at(graph_.weights[i]) = weights[i];
    for (const auto& [value, datum] : graph_.constants) at(value) = datum;
    for (std::pair<int, Datum>& one : replaced) at(one.first) = std::move(one.second);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      Data arguments;
      arguments.reserve(node.inputs.size());
      for (const int input : node.inputs) arguments.push_back(input == absent ? Datum() : at(input));
      for (const int input : node.inputs)
        if (input != absent && last_uses_[static_cast<std::size_t>(input)] == i) at(input) = Datum();
      const auto compute = [&] { return compute_node(node, std::move(arguments), device); };
      Data results = by ? by(node, arguments, compute) : compute();
      for (std::size_t k = 0; k < node.outputs.size(); ++k)
        if (node.outputs[k] != absent && last_uses_[static_cast<std::size_t>(node.outputs[k])] != unused)
          at(node.outputs[k]) = std::move(results[k]);
    }
    Data outputs;
    for (const int output : graph_.outputs) outputs.push_back(output == absent ? Datum() : at(output));
    return outputs;
  }

 private:
  Data compute_node(const Node& node, Data inputs, Device device) const;

  const Graph& graph_;
  const std::vector<std::size_t> last_uses_;
};

Data run_bodies(const Node& node, Data inputs, Device device) {
  const auto first_captured = inputs.end() - static_cast<std::ptrdiff_t>(node.captures);
  const Data captured(first_captured, inputs.end());
  inputs.erase(first_captured, inputs.end());
  std::vector<Walk> walks;
  for (const Graph& body : node.bodies) walks.emplace_back(body);
  const RunBody run_body = [&](std::size_t body, Data own) {
    own.insert(own.end(), captured.begin(), captured.end());
    return walks[body].run(std::move(own), {}, device);
  };
  return node.control(inputs, run_body, device);
}

Data Walk::compute_node(const Node& node, Data inputs, Device device) const {
  const ops::IndexScope scope(node.fault);
  try {
    return node.control ? run_bodies(node, std::move(inputs), device) : node.run(inputs, device);
  } catch (const Error& error) {
    if (graph_.names_in_errors == nullptr) throw;
    throw Error(error.code(), concat(graph_.names_in_errors(node), ": ", error.what()));
  }
}

}  // namespace

bool is_random(const Node& node) {
  const auto has_random = [](const Graph& body) {
    return std::any_of(body.nodes.begin(), body.nodes.end(), is_random);
  };
  return node.run.is_random || std::any_of(node.bodies.begin(), node.bodies.end(), has_random);
}

Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
         const std::vector<std::pair<int, Datum>>& replaced) {
  return walk(graph, inputs, weights, device, replaced);
}

Data walk(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
          std::vector<std::pair<int, Datum>> replaced, const RunNode& run_node) {
  const Packing scope;
  const autograd::PauseAutocast types_of_nodes;
  return Walk(graph).run(inputs, weights, device, std::move(replaced), run_node);
}

}  // namespace crisol::graph
