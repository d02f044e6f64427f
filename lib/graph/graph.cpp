#include "graph/graph.h"

#include <mutex>

#include "base/text.h"

namespace crisol::graph {

struct Datum::Uploaded {
  std::mutex mutex;
  Tensor tensor;
};

Datum::Datum(std::vector<std::int64_t> numbers, const Shape& shape, DType dtype)
    : numbers_(std::move(numbers)), shape_(shape), dtype_(dtype), uploaded_(std::make_shared<Uploaded>()) {}

Tensor Datum::tensor(Device device) const {
  if (!numbers_) return tensor_.defined() ? tensor_.to(device) : tensor_;
  const std::lock_guard lock(uploaded_->mutex);
  Tensor& tensor = uploaded_->tensor;
  if (!tensor.defined() || tensor.device() != device) {
    tensor = from_vector(*numbers_, shape_, dtype_, device);
  }
  return tensor;
}

std::vector<std::int64_t> Datum::numbers() const {
  if (numbers_) return *numbers_;
  require(!is_floating(tensor_.dtype()), "graph", "whole numbers are needed, and the tensor is ", tensor_.dtype());
  return tensor_.to(DType::i64).to_vector<std::int64_t>();
}

double Datum::number() const {
  require(shape().numel() == 1, "graph", "one number is needed, and the shape is ", shape());
  if (numbers_) return static_cast<double>(numbers_->front());
  return number_ ? *number_ : tensor_.item<double>();
}

bool may_be_shape(const Shape& shape, DType dtype) {
  return (dtype == DType::i64 || dtype == DType::i32) && shape.rank() <= 1 && shape.numel() <= 1024;
}

void Datum::remember() {
  if (numbers_ || !tensor_.defined()) return;
  if (may_be_shape(tensor_.shape(), tensor_.dtype()))
    *this = Datum(numbers(), tensor_.shape(), tensor_.dtype());
  else if (tensor_.numel() == 1)
    number_ = tensor_.item<double>();
}

std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.values.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const int input : graph.nodes[i].inputs)
      if (input != absent) last[static_cast<std::size_t>(input)] = i;
  for (const int output : graph.outputs) last[static_cast<std::size_t>(output)] = graph.nodes.size();
  return last;
}

Data run_node(const Node& node, const Data& inputs, Device device) {
  try {
    return node.run(inputs, device);
  } catch (const Error& error) {
    throw Error(error.code(), concat("[onnx] node ", node.name, " (", node.op, "): ", error.what()));
  }
}

Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device) {
  Data data(graph.values.size());
  const auto at = [&](int value) -> Datum& { return data[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) at(graph.inputs[i]) = inputs[i];
  for (std::size_t i = 0; i < graph.weights.size(); ++i) at(graph.weights[i]) = weights[i];
  for (const auto& [value, datum] : graph.constants) at(value) = datum;
  const std::vector<std::size_t> last = last_uses(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    Data arguments;
    for (const int input : node.inputs) arguments.push_back(input == absent ? Datum() : at(input));
    Data results = run_node(node, arguments, device);
    for (const int input : node.inputs)
      if (input != absent && last[static_cast<std::size_t>(input)] == i) at(input) = Datum();
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] != absent) at(node.outputs[k]) = std::move(results[k]);
  }
  Data outputs;
  for (const int output : graph.outputs) outputs.push_back(at(output));
  return outputs;
}

}  // namespace crisol::graph
