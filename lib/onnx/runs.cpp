#include "onnx/runs.h"

#include <map>

#include "base/text.h"
#include "onnx/ops/table.h"
#include "onnx/problems.h"

namespace crisol::onnx {

namespace {

using Kind = file::Attribute::Kind;

/// Converts an attribute to the form that it would have in a file. It refers to the texts of the node.
file::Attribute attribute_of(const std::string& name, const graph::Attribute& value) {
  file::Attribute made;
  made.name = name;
  if (const auto* real = std::get_if<double>(&value)) {
    made.kind = Kind::f32;
    made.floats = {static_cast<float>(*real)};
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    made.kind = Kind::integer;
    made.integers = {*integer};
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    made.kind = Kind::string;
    made.strings = {*text};
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    made.kind = Kind::floats;
    for (const double one : *reals) made.floats.push_back(static_cast<float>(one));
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    made.kind = Kind::integers;
    made.integers = *integers;
  } else {
    made.kind = Kind::strings;
    for (const std::string& one : std::get<std::vector<std::string>>(value)) made.strings.emplace_back(one);
  }
  return made;
}

/// A builder's context for nodes of a graph that does not come from a file.
class NoFile final : public Call::Context {
 public:
  explicit NoFile(const graph::Graph& graph) {
    for (const auto& [value, datum] : graph.constants) constants_.emplace(value, &datum);
  }

  graph::Datum load(const file::TensorProto&) override {
    fail(ErrorCode::invalid_argument, "onnx", "tensors as attributes are not supported");
  }
  graph::Texts texts_of(const file::TensorProto&) override { return nullptr; }
  graph::Datum stored(int place) override {
    const auto at = constants_.find(place);
    return at == constants_.end() ? graph::Datum() : *at->second;
  }
  graph::Value declared(std::size_t) override { return {}; }
  Values add_body(const file::Graph&, const Values&) override {
    fail(ErrorCode::invalid_argument, "onnx", "graphs as attributes are not supported");
  }
  void add_part(const std::string&, const std::vector<std::string>&) override {
    fail(ErrorCode::invalid_argument, "onnx", "parts of the graph are not supported");
  }
  const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view, std::string_view) override {
    static const std::vector<std::vector<std::int64_t>> none;
    return none;
  }

 private:
  std::map<int, const graph::Datum*> constants_;
};

void add_run(const graph::Graph& graph, graph::Node& node, NoFile& context) {
  file::Node as_file;
  as_file.name = node.name;
  as_file.op = node.op;
  const auto names = [](const std::vector<int>& values) {
    std::vector<std::string_view> texts;
    texts.reserve(values.size());
    for (const int value : values) texts.push_back(value == graph::absent ? "" : "value");
    return texts;
  };
  as_file.inputs = names(node.inputs);
  as_file.outputs = names(node.outputs);
  std::vector<file::Attribute> attributes;
  attributes.reserve(node.attributes.size());
  for (const auto& [name, value] : node.attributes) attributes.push_back(attribute_of(name, value));
  std::vector<Call::Attribute> named;
  named.reserve(attributes.size());
  for (const file::Attribute& attribute : attributes) named.push_back({attribute.name, &attribute});
  Values inputs;
  for (const int input : node.inputs) {
    graph::Value& known = inputs.emplace_back();
    if (input != graph::absent) known.dtype = graph.values[static_cast<std::size_t>(input)].dtype;
  }
  const Row* row = find_row("", node.op, newest_version);
  require(row != nullptr, "onnx", "the op is not supported");
  Call call(as_file, std::move(named), newest_version, node.inputs, std::move(inputs), context);
  node.run = row->build(call);
  call.check_all_known();
}

}  // namespace

void add_runs(graph::Graph& graph) {
  Problems problems;
  NoFile context(graph);
  for (graph::Node& node : graph.nodes) {
    try {
      add_run(graph, node, context);
    } catch (const Error& error) {
      problems.add_from(error, node.op, node.name);
    }
  }
  problems.refuse("the graph");
}

}  // namespace crisol::onnx
