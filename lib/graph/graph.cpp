#include "graph/graph.h"

#include "base/text.h"

namespace crisol::graph {

Datum Datum::sequence(std::vector<Datum> elements) {
  Datum datum;
  datum.elements_ = std::make_shared<const std::vector<Datum>>(std::move(elements));
  return datum;
}

const Tensor& Datum::own_tensor() const {
  require(!is_sequence(), "graph", "a tensor is needed, and the value is a sequence of ",
          is_sequence() ? elements_->size() : 0, " elements");
  return tensor_;
}

Tensor Datum::tensor(Device device) const {
  if (on_host()) return from_vector(*numbers_, shape_, dtype_, device);
  return own_tensor().defined() ? tensor_.to(device) : tensor_;
}

std::vector<std::int64_t> Datum::numbers() const {
  if (on_host()) return *numbers_;
  require(own_tensor().defined(), "graph", "whole numbers are needed, and the value is empty");
  require(!is_floating(tensor_.dtype()), "graph", "whole numbers are needed, and the tensor is ", tensor_.dtype());
  return tensor_.to(DType::i64).to_vector<std::int64_t>();
}

const std::vector<Datum>& Datum::elements() const {
  require(is_sequence(), "graph", "a sequence is needed, and the value is ", defined() ? "a tensor" : "empty");
  return *elements_;
}

namespace {

/// A graph, and what its runs need to know: a loop runs one graph many times.
class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph), last_uses_(graph.values.size(), unused) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const int input : graph.nodes[i].inputs)
        if (input != absent) last_uses_[static_cast<std::size_t>(input)] = i;
    for (const int output : graph.outputs)
      if (output != absent) last_uses_[static_cast<std::size_t>(output)] = graph.nodes.size();
  }

  Data run(Data inputs, const std::vector<Tensor>& weights, Device device,
           const std::vector<std::pair<int, Datum>>& replaced) const {
    Data data(graph_.values.size());
    const auto at = [&](int value) -> Datum& { return data[static_cast<std::size_t>(value)]; };
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) at(graph_.inputs[i]) = std::move(inputs[i]);
    for (std::size_t i = 0; i < graph_.weights.size(); ++i) at(graph_.weights[i]) = weights[i];
    for (const auto* list : {&graph_.constants, &replaced})
      for (const auto& [value, datum] : *list) at(value) = datum;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      Data arguments;
      arguments.reserve(node.inputs.size());
      for (const int input : node.inputs) arguments.push_back(input == absent ? Datum() : at(input));
      for (const int input : node.inputs)
        if (input != absent && last_uses_[static_cast<std::size_t>(input)] == i) at(input) = Datum();
      Data results = run_node(node, std::move(arguments), device);
      for (std::size_t k = 0; k < node.outputs.size(); ++k)
        if (node.outputs[k] != absent && last_uses_[static_cast<std::size_t>(node.outputs[k])] != unused)
          at(node.outputs[k]) = std::move(results[k]);
    }
    Data outputs;
    for (const int output : graph_.outputs) outputs.push_back(output == absent ? Datum() : at(output));
    return outputs;
  }

 private:
  static constexpr std::size_t unused = static_cast<std::size_t>(-1);

  static Data run_bodies(const Node& node, Data inputs, Device device) {
    const auto first_captured = inputs.end() - static_cast<std::ptrdiff_t>(node.captures);
    const Data captured(first_captured, inputs.end());
    inputs.erase(first_captured, inputs.end());
    std::vector<Walk> walks;
    for (const Graph& body : node.bodies) walks.emplace_back(body);
    const RunBody run_body = [&](std::size_t body, Data own) {
      own.insert(own.end(), captured.begin(), captured.end());
      return walks[body].run(std::move(own), {}, device, {});
    };
    return node.control(inputs, run_body, device);
  }

  static Data run_node(const Node& node, Data inputs, Device device) {
    try {
      return node.control ? run_bodies(node, std::move(inputs), device) : node.run(inputs, device);
    } catch (const Error& error) {
      throw Error(error.code(), concat("[onnx] node ", node.name, " (", node.op, "): ", error.what()));
    }
  }

  const Graph& graph_;
  /// The place of the last node that needs each value; nodes.size() for outputs of the graph.
  std::vector<std::size_t> last_uses_;
};

}  // namespace

Data run(const Graph& graph, const Data& inputs, const std::vector<Tensor>& weights, Device device,
         const std::vector<std::pair<int, Datum>>& replaced) {
  return Walk(graph).run(inputs, weights, device, replaced);
}

}  // namespace crisol::graph
