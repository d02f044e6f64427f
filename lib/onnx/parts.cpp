// Models from parts in memory: they become the structs that the decoder of files makes.
#include <algorithm>

#include "base/text.h"
#include "crisol/onnx_parts.h"
#include "onnx/importer.h"
#include "onnx/make_model.h"

namespace crisol::onnx {

namespace {

file::ElementType element_of(int number, const std::string& name) {
  const auto type = file::element_type_of(number);
  require(type.has_value(), "onnx", "the value ", file::in_quotes(name), " has the element type ", number,
          ", which ONNX does not know");
  return *type;
}

file::TensorProto tensor_of(const TensorParts& parts) {
  file::TensorProto tensor;
  tensor.name = parts.name;
  tensor.type = element_of(parts.type, parts.name);
  tensor.place = file::TensorProto::Place::raw;
  tensor.sizes = parts.sizes;
  tensor.count = 1;
  for (const std::int64_t size : parts.sizes) {
    require(size >= 0, "onnx", "the tensor ", file::in_quotes(parts.name), " has the size ", size);
    tensor.count *= size;
  }
  require(tensor.type != file::ElementType::string, "onnx", "the tensor ", file::in_quotes(parts.name),
          " has texts, which are not supported in parts");
  require(tensor.byte_count() == parts.bytes, "onnx", "the tensor ", file::in_quotes(parts.name), " takes ",
          tensor.byte_count(), " bytes, and ", parts.bytes, " are given");
  tensor.bytes = {static_cast<const char*>(parts.elements), parts.bytes};
  return tensor;
}

file::ValueInfoProto value_of(const ValueParts& parts) {
  file::ValueInfoProto value{parts.name, {}};
  value.type.kind = file::Type::Kind::tensor;
  value.type.element = element_of(parts.type, parts.name);
  if (!parts.shape) return value;
  value.type.shape.emplace();
  for (const Dimension& d : *parts.shape) {
    file::DimensionProto& dimension = value.type.shape->emplace_back();
    if (d.size >= 0) dimension.size = d.size;
    dimension.name = d.name;
  }
  return value;
}

file::Graph graph_of(const GraphParts& parts);

/// Fills the list of the attribute that holds values of this type.
struct Filler {
  using Kind = file::Attribute::Kind;
  file::Attribute& attribute;

  template <class List, class T>
  void set(Kind kind, List& list, const T& value) const {
    attribute.kind = kind;
    list.push_back(value);
  }
  void operator()(std::int64_t value) const { set(Kind::integer, attribute.integers, value); }
  void operator()(float value) const { set(Kind::f32, attribute.floats, value); }
  void operator()(const std::string& value) const { set(Kind::string, attribute.strings, value); }
  void operator()(const std::vector<std::int64_t>& values) const {
    attribute.kind = Kind::integers;
    attribute.integers = values;
  }
  void operator()(const std::vector<float>& values) const {
    attribute.kind = Kind::floats;
    attribute.floats = values;
  }
  void operator()(const std::vector<std::string>& values) const {
    attribute.kind = Kind::strings;
    attribute.strings.assign(values.begin(), values.end());
  }
  void operator()(const TensorParts& value) const { set(Kind::tensor, attribute.tensors, tensor_of(value)); }
  void operator()(const std::shared_ptr<const GraphParts>& value) const {
    require(value != nullptr, "onnx", "the attribute ", file::in_quotes(attribute.name), " has no graph");
    set(Kind::graph, attribute.graphs, graph_of(*value));
  }
};

file::Node node_of(const NodeParts& parts) {
  file::Node node{parts.name, parts.op, parts.domain, {}, {}, {}, {}};
  if (node.domain == "ai.onnx") node.domain = {};
  node.inputs.assign(parts.inputs.begin(), parts.inputs.end());
  node.outputs.assign(parts.outputs.begin(), parts.outputs.end());
  for (const AttributeParts& attribute : parts.attributes) {
    node.attributes.emplace_back().name = attribute.name;
    std::visit(Filler{node.attributes.back()}, attribute.value);
  }
  return node;
}

template <class From, class To>
void append(const std::vector<From>& parts, std::vector<To>& list, To (*convert)(const From&)) {
  std::transform(parts.begin(), parts.end(), std::back_inserter(list), convert);
}

file::Graph graph_of(const GraphParts& parts) {
  file::Graph graph;
  graph.name = parts.name;
  append(parts.nodes, graph.nodes, node_of);
  append(parts.initializers, graph.initializers, tensor_of);
  append(parts.inputs, graph.inputs, value_of);
  append(parts.outputs, graph.outputs, value_of);
  append(parts.values, graph.values, value_of);
  append(parts.inputs, graph.values, value_of);  // A survey looks for the types of inputs there.
  return graph;
}

file::ModelFile model_of(const ModelParts& parts) {
  file::ModelProto model;
  for (const OperatorSet& set : parts.operator_sets)
    model.operator_sets.push_back({set.domain == "ai.onnx" ? std::string_view() : set.domain, set.version});
  model.graph = graph_of(parts.graph);
  return {parts.name, std::move(model)};
}

}  // namespace

Model load(const ModelParts& parts, Device device) {
  file::ModelFile model = model_of(parts);
  return make_model(model, device);
}

Model load_bytes(const std::string& name, std::string_view bytes, Device device) {
  file::ModelFile model(name, bytes);
  return make_model(model, device);
}

std::vector<RefusedNode> refused_nodes(const ModelParts& parts, Device device) {
  file::ModelFile model = model_of(parts);
  return Importer(model, device).survey();
}

}  // namespace crisol::onnx
