#include "onnx/runs.h"

#include "base/text.h"

#include "onnx/ops/table.h"
#include "onnx/problems.h"

namespace crisol::onnx {

namespace {

using Kind = file::Attribute::Kind;

/// The attribute as a file would have it. It refers to the texts of the node.
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

void add_run(graph::Node& node) {
  file::Node as_file;
  as_file.name = node.name;
  as_file.op = node.op;
  const auto names = [](const std::vector<int>& values) {
    std::vector<std::string_view> texts;
    for (const int value : values) texts.push_back(value == graph::absent ? "" : "value");
    return texts;
  };
  as_file.inputs = names(node.inputs);
  as_file.outputs = names(node.outputs);
  std::vector<file::Attribute> attributes;
  for (const auto& [name, value] : node.attributes) attributes.push_back(attribute_of(name, value));
  const Row* row = find_row(node.op, newest_version);
  require(row != nullptr, "onnx", "the op is not supported");
  Call call(as_file, std::move(attributes), newest_version, nullptr);
  node.run = row->build(call);
  call.check_all_known();
}

}  // namespace

void add_runs(graph::Graph& graph) {
  Problems problems;
  for (graph::Node& node : graph.nodes) {
    try {
      add_run(node);
    } catch (const Error& error) {
      problems.add_from(error, node.op, node.name);
    }
  }
  problems.refuse("the graph");
}

}  // namespace crisol::onnx
