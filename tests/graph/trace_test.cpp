// Traces: ops, attributes, sizes of the batch, weights and constants.
#include "graph/trace.h"

#include <algorithm>
#include <map>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "graph/ops/runs.h"
#include "graph/program.h"
#include "support/files.h"

using namespace crisol;
using namespace crisol::testing;
using graph::Graph;
using graph::Traced;

namespace {

using Tensors = std::vector<Tensor>;

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const graph::Node& node : graph.nodes) ops.emplace_back(node.op_name());
  return ops;
}

const graph::Node& node_of(const Graph& graph, const std::string& op) {
  return *std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) { return node.op_name() == op; });
}

/// The whole numbers that are input `i` of a node.
std::vector<std::int64_t> numbers_of(const Graph& graph, const graph::Node& node, std::size_t i) {
  for (const auto& [value, datum] : graph.constants)
    if (value == node.inputs[i]) return datum.numbers();
  return {};
}

}  // namespace

TEST_CASE("trace: nodes, attributes and weights") {
  nn::Conv2d conv(2, 4, {3, 1}, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2});
  const Traced traced =
      graph::trace([&](const Tensors& in) { return Tensors{max_pool2d(conv(in[0], relu_epilogue()), {2}).flatten(1)}; },
                   {ones({1, 2, 8, 6})}, conv.state_dict());
  const Graph& graph = traced.graph;
  CHECK(ops_of(graph) == std::vector<std::string>{"conv", "relu", "max_pool", "reshape", "identity"});
  using Numbers = std::vector<std::int64_t>;
  const auto& attributes = node_of(graph, "conv").attributes;
  CHECK(std::get<Numbers>(attributes.at("stride")) == Numbers{2, 1});
  CHECK(std::get<Numbers>(attributes.at("padding")) == Numbers{1, 0, 1, 0});
  CHECK(std::get<std::int64_t>(attributes.at("groups")) == 2);
  REQUIRE(traced.weights.size() == 2);
  CHECK(graph.values[static_cast<std::size_t>(graph.weights[0])].name == "weight");
  CHECK(numbers_of(graph, node_of(graph, "reshape"), 1) == Numbers{-1, 24});
  const auto& output = graph.values[static_cast<std::size_t>(graph.outputs[0])];
  CHECK(output.name == "output");
  CHECK((*output.shape)[0].name == "batch");
  CHECK((*output.shape)[1].size == 24);
}

TEST_CASE("trace: numbers that grow with the batch come from the input's shape") {
  const Traced traced = graph::trace(
      [](const Tensors& in) {
        const std::int64_t batch = in[0].size(0);
        return Tensors{in[1].sum(0).expand({2, batch, 3}).reshape({2 * batch, 3}), in[0].expand({5, batch, 3})};
      },
      {ones({4, 3}), ones({4, 3})}, {}, {.inputs = {"a", "b"}, .batch = "N"});
  const Graph& graph = traced.graph;
  CHECK(graph.nodes[0].op == GraphOp::shape);
  CHECK(graph.nodes[0].inputs[0] == graph.inputs[0]);
  const std::vector<std::string> ops = ops_of(graph);
  CHECK(std::count(ops.begin(), ops.end(), "shape") == 1);
  const auto& first = *graph.values[static_cast<std::size_t>(graph.outputs[0])].shape;
  CHECK(!first[0].size);
  CHECK(first[0].name.empty());
  CHECK((*graph.values[static_cast<std::size_t>(graph.outputs[1])].shape)[1].name == "N");
}

TEST_CASE("trace: constants from before and from the trace, and tied weights") {
  const Tensor before = ones({3}), weight = ones({3});
  const Traced traced = graph::trace(
      [&](const Tensors& in) {
        const Tensor unused = in[0] * 7;
        return Tensors{in[0] * before + weight * from_vector(std::vector<float>{1, 2, 3})};
      },
      {ones({2, 3})}, {{"a", weight}, {"tied", weight}, {"unused", ones({9})}});
  CHECK(traced.weights.size() == 1);
  CHECK(traced.graph.values[static_cast<std::size_t>(traced.graph.weights[0])].name == "a");
  CHECK(traced.graph.constants.size() == 2);
  CHECK(ops_of(traced.graph) == std::vector<std::string>{"mul", "mul", "add", "identity"});
}

namespace {

/// Makes a program of a function's trace, and compares its outputs with the function's. Returns how many nodes each
/// pass changed.
std::map<std::string, std::size_t> changes_of(const graph::TensorFunction& f, const Tensor& x,
                                              const NamedTensors& state, std::vector<std::string> ops) {
  Traced traced = graph::trace(f, {x}, state);
  if (!ops.empty()) {
    ops.emplace_back("identity");
    CHECK(ops_of(traced.graph) == ops);
  }
  graph::add_runs(traced.graph);
  graph::PassChanges changes;
  CHECK(graph::optimise(traced.graph, {x}, traced.weights, x.device(), &changes).has_value());
  const graph::Data y = graph::Program(traced.graph, {x}, traced.weights, x.device()).outputs();
  const Tensor expected = f({x})[0];
  CHECK(y[0].tensor(x.device()).shape() == expected.shape());
  CHECK((y[0].tensor(x.device()) - expected).abs().max().item<float>() < 1e-5f);
  return {changes.begin(), changes.end()};
}

}  // namespace

TEST_CASE("trace: a linear layer is one node, and those of one value become one") {
  const NoGrad no_grad;
  manual_seed(8);
  nn::Linear a(6, 4), b(6, 5), c(6, 3, {.bias = false}), d(6, 2, {.bias = false});
  NamedTensors state;
  for (nn::Linear layer : {a, b, c, d})
    for (const auto& [name, tensor] : layer.state_dict())
      state.emplace_back(name + std::to_string(state.size()), tensor);
  const auto f = [&](const Tensors& in) {
    Tensors all;
    for (nn::Linear layer : {a, b, c, d}) all.push_back(softmax(layer(in[0]), -1));
    return Tensors{cat(all, -1)};
  };
  for (const Shape& shape : {Shape{5, 6}, Shape{2, 3, 6}})
    CHECK(changes_of(f, randn(shape), state,
                     {"linear", "softmax", "linear", "softmax", "linear", "softmax", "linear", "softmax", "cat"})
              .at("join_products") == 4);
}

TEST_CASE("trace: adaptive pools, and a linear layer of one-hot rows") {
  const NoGrad no_grad;
  manual_seed(9);
  changes_of(
      [](const Tensors& in) {
        return Tensors{adaptive_avg_pool2d(in[0], {3, 4})};
      },
      randn({2, 3, 7, 5}), {}, {"adaptive_avg_pool"});
  nn::Linear layer(7, 4);
  const Tensor places = arange(0, 7, 1, DType::i64);
  const auto f = [&](const Tensors& in) { return Tensors{tanh(layer(in[0].unsqueeze(-1).eq(places).to(DType::f32)))}; };
  const auto changes =
      changes_of(f, from_vector(std::vector<std::int64_t>{0, 6, 3, 2}, {2, 2}), layer.state_dict(), {});
  CHECK(changes.at("find_lookups") > 0);
}
