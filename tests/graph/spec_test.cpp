// Graphs that break a rule are refused between passes.
#include "graph/spec.h"

#include "doctest/doctest.h"
#include "support/files.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using graph::Graph;
using graph::Node;
using graph::Op;

namespace {

Node node_of(Op op, std::vector<int> inputs, std::vector<int> outputs) {
  Node node;
  node.name = "n";
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.run = [](const graph::Data& in, Device) { return in; };
  return node;
}

/// softmax(x · w)
Graph good() {
  Graph graph;
  graph.values.resize(4);
  graph.inputs = {0};
  graph.constants = {{1, graph::Datum({1, 2}, Shape{2})}};
  graph.nodes = {node_of(Op::matmul, {0, 1}, {2}), node_of(Op::softmax, {2}, {3})};
  graph.nodes[1].attributes = {{"axis", std::int64_t{-1}}};
  graph.outputs = {3};
  return graph;
}

template <class Change>
doctest::String refused(const Change& change) {
  Graph graph = good();
  change(graph);
  return refusal(ErrorCode::invalid_argument, [&] { graph::check_graph(graph, "a pass"); });
}

}  // namespace

TEST_CASE("graph: each rule of the spec refuses a graph that breaks it") {
  graph::check_graph(good(), "nothing");
  CHECK(refused([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }) ==
        Contains("after a pass: node n (softmax) uses value 2, which no earlier node makes"));
  CHECK(refused([](Graph& g) { g.nodes[0].inputs[1] = 9; }) == Contains("(matmul) uses value 9"));
  CHECK(refused([](Graph& g) { g.nodes[1].outputs[0] = 2; }) == Contains("value 2 has a second source: n"));
  CHECK(refused([](Graph& g) { g.constants.push_back(g.constants[0]); }) == Contains("value 1 has a second source"));
  CHECK(refused([](Graph& g) { g.nodes.pop_back(); }) == Contains("nothing makes output 3"));
  CHECK(refused([](Graph& g) { g.nodes[0].run = {}; }) == Contains("has no run, or two"));
  CHECK(refused([](Graph& g) { g.nodes[0].captures = 3; }) == Contains("captures more values"));
  CHECK(refused([](Graph& g) { g.nodes[0].inputs.push_back(0); }) == Contains("(matmul) has 3 inputs"));
  CHECK(refused([](Graph& g) { g.nodes[1].inputs.clear(); }) == Contains("(softmax) has 0 inputs"));
  CHECK(refused([](Graph& g) {
          g.values.resize(5);
          g.nodes[0].outputs.push_back(4);
        }) == Contains("has 2 outputs"));
  CHECK(refused([](Graph& g) {
          g.nodes[0].attributes = {{"axis", std::int64_t{0}}};
        }) == Contains("has an attribute axis of type i"));
  CHECK(refused([](Graph& g) { g.nodes[1].attributes = {{"axis", 1.0}}; }) == Contains("axis of type d"));
  CHECK(refused([](Graph& g) { g.states.resize(2); }) == Contains("2 states"));
  // A joined node has inputs of its own, and an op of a file without an id has any.
  Graph joined = good();
  joined.nodes[0].inputs.push_back(0);
  joined.nodes[0].is_joined = true;
  graph::check_graph(joined, "a pass");
  Graph other = good();
  other.nodes[1].op = Op::other;
  other.nodes[1].attributes = {{"any", 1.0}};
  graph::check_graph(other, "a pass");
}
