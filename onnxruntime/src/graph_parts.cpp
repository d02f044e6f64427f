#include "graph_parts.h"

#include <algorithm>

namespace crisol::ort {

std::string name_of(const OrtValueInfo* value) {
  return value == nullptr ? "" : get<const char*>(api().GetValueInfoName, value);
}

std::string op_of(const OrtNode* node) { return get<const char*>(api().Node_GetOperatorType, node); }
std::string domain_of(const OrtNode* node) { return get<const char*>(api().Node_GetDomain, node); }

std::vector<const OrtValueInfo*> inputs_of(const OrtNode* node) {
  return list(api().Node_GetNumInputs, api().Node_GetInputs, node);
}

std::vector<const OrtValueInfo*> outputs_of(const OrtNode* node) {
  return list(api().Node_GetNumOutputs, api().Node_GetOutputs, node);
}

std::vector<const OrtValueInfo*> used_by(const OrtNode* node) {
  std::vector<const OrtValueInfo*> values = inputs_of(node);
  for (const OrtValueInfo* value : list(api().Node_GetNumImplicitInputs, api().Node_GetImplicitInputs, node))
    values.push_back(value);
  return values;
}

std::vector<const OrtNode*> nodes_of(const OrtGraph* graph) {
  return list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph);
}

bool is_constant(const OrtValueInfo* value) {
  return value != nullptr && get<bool>(api().ValueInfo_IsConstantInitializer, value);
}

Layout layout_of(const OrtValue* value) {
  auto* info = get<OrtTensorTypeAndShapeInfo*>(api().GetTensorTypeAndShape, value);
  Layout layout;
  layout.type = get<int>(api().GetTensorElementType, info);
  layout.sizes.resize(get<std::size_t>(api().GetDimensionsCount, info));
  check(api().GetDimensions(info, layout.sizes.data(), layout.sizes.size()));
  api().ReleaseTensorTypeAndShapeInfo(info);
  return layout;
}

void* data_of(const OrtValue* value) { return get<void*>(api().GetTensorMutableData, const_cast<OrtValue*>(value)); }

namespace {

/// Null if the value is no tensor, or if nothing is known about it.
const OrtTensorTypeAndShapeInfo* tensor_info_of(const OrtValueInfo* value) {
  const auto* type = get<const OrtTypeInfo*>(api().GetValueInfoTypeInfo, value);
  return type == nullptr ? nullptr : get<const OrtTensorTypeAndShapeInfo*>(api().CastTypeInfoToTensorInfo, type);
}

}  // namespace

std::vector<std::int64_t> sizes_of(const OrtValueInfo* value) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_info_of(value);
  if (tensor == nullptr) return {};
  std::vector<std::int64_t> sizes(get<std::size_t>(api().GetDimensionsCount, tensor));
  check(api().GetDimensions(tensor, sizes.data(), sizes.size()));
  return sizes;
}

std::vector<std::string> axes_of(const OrtValueInfo* value) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_info_of(value);
  if (tensor == nullptr) return {};
  const std::vector<std::int64_t> sizes = sizes_of(value);
  std::vector<const char*> names(sizes.size());
  check(api().GetSymbolicDimensions(tensor, names.data(), names.size()));
  std::vector<std::string> axes(sizes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0) axes[i] = names[i];
    if (sizes[i] < 0 && axes[i].empty()) axes[i] = name_of(value) + "/" + std::to_string(i);
  }
  return axes;
}

onnx::ValueParts value_of(const OrtValueInfo* value) {
  onnx::ValueParts parts;
  parts.name = name_of(value);
  const OrtTensorTypeAndShapeInfo* tensor = tensor_info_of(value);
  if (tensor == nullptr) return parts;
  parts.type = get<int>(api().GetTensorElementType, tensor);
  // The number of axes alone. ONNX Runtime runs models whose files have the sizes of another batch, or one name for
  // sizes that differ. Version 1.23 gives no axes for a value whose number of axes is unknown.
  if (const auto axes = get<std::size_t>(api().GetDimensionsCount, tensor); axes > 0) parts.shape.emplace(axes);
  return parts;
}

GraphReader::GraphReader(const OrtGraph* graph) {
  parts_.name = "the graph of ONNX Runtime";
  std::vector<const char*> domains(get<std::size_t>(api().Graph_GetNumOperatorSets, graph));
  std::vector<std::int64_t> versions(domains.size());
  check(api().Graph_GetOperatorSets(graph, domains.data(), versions.data(), domains.size()));
  for (std::size_t i = 0; i < domains.size(); ++i) parts_.operator_sets.push_back({domains[i], versions[i]});
  fill(parts_.graph, graph);
  if (get<const OrtNode*>(api().Graph_GetParentNode, graph) != nullptr) add_outer_values(graph);
}

GraphReader::~GraphReader() {
  for (OrtValue* value : owned_) api().ReleaseValue(value);
}

void GraphReader::fill(onnx::GraphParts& parts, const OrtGraph* graph) {
  parts.name = get<const char*>(api().Graph_GetName, graph);
  for (const OrtValueInfo* value : list(api().Graph_GetNumInputs, api().Graph_GetInputs, graph))
    if (!is_constant(value)) parts.inputs.push_back(value_of(value));
  for (const OrtValueInfo* value : list(api().Graph_GetNumOutputs, api().Graph_GetOutputs, graph)) {
    parts.outputs.push_back(value_of(value));
    if (is_constant(value)) add_constant(value);
  }
  for (const OrtNode* node : nodes_of(graph)) {
    for (const OrtValueInfo* value : used_by(node))
      if (is_constant(value)) add_constant(value);
    for (const OrtValueInfo* value : outputs_of(node))
      if (value != nullptr) parts.values.push_back(value_of(value));
    parts.nodes.push_back(node_of(node));
  }
}

void GraphReader::add_outer_values(const OrtGraph* graph) {
  std::set<std::string> own{""};  // The name of a value that is left out.
  for (const onnx::ValueParts& input : parts_.graph.inputs) own.insert(input.name);
  for (const onnx::NodeParts& node : parts_.graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  for (const OrtNode* node : nodes_of(graph))
    for (const OrtValueInfo* value : used_by(node))
      if (!is_constant(value) && own.insert(name_of(value)).second) parts_.graph.inputs.push_back(value_of(value));
}

/// All constants become initializers of the model's graph, also those of graphs within nodes: names are unique.
void GraphReader::add_constant(const OrtValueInfo* value) {
  const std::string name = name_of(value);
  if (!constants_.insert(name).second) return;
  if (value_of(value).type == type_of_texts)  // An input of texts, so that the nodes that use it are refused.
    parts_.graph.inputs.push_back(value_of(value));
  else
    parts_.graph.initializers.push_back(
        tensor_of(name, get<const OrtValue*>(api().ValueInfo_GetInitializerValue, value)));
}

onnx::TensorParts GraphReader::tensor_of(const std::string& name, const OrtValue* value) {
  onnx::TensorParts parts;
  const Layout layout = layout_of(value);
  parts.name = name;
  parts.type = layout.type;
  parts.sizes = layout.sizes;
  parts.elements = data_of(value);
  parts.bytes = get<std::size_t>(api().GetTensorSizeInBytes, value);
  return parts;
}

onnx::NodeParts GraphReader::node_of(const OrtNode* node) {
  onnx::NodeParts parts;
  parts.name = get<const char*>(api().Node_GetName, node);
  parts.op = op_of(node);
  parts.domain = domain_of(node);
  for (const OrtValueInfo* value : inputs_of(node)) parts.inputs.push_back(name_of(value));
  for (const OrtValueInfo* value : outputs_of(node)) parts.outputs.push_back(name_of(value));
  add_attributes(parts, node);
  std::vector<const OrtGraph*> graphs(get<std::size_t>(api().Node_GetNumSubgraphs, node));
  std::vector<const char*> names(graphs.size());
  check(api().Node_GetSubgraphs(node, graphs.data(), graphs.size(), names.data()));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    auto body = std::make_shared<onnx::GraphParts>();
    fill(*body, graphs[i]);
    parts.attributes.push_back({names[i], std::move(body)});
  }
  return parts;
}

namespace {

/// The elements of an attribute, in the form in which ReadOpAttr gives them.
template <class T>
std::vector<T> elements_of(const OrtOpAttr* attribute, AttributeType type) {
  std::size_t bytes = 0;
  // The first call fails, and says how many bytes are needed.
  if (OrtStatus* status = api().ReadOpAttr(attribute, static_cast<int>(type), nullptr, 0, &bytes))
    api().ReleaseStatus(status);
  std::vector<T> elements(bytes / sizeof(T));
  if (!elements.empty()) check(api().ReadOpAttr(attribute, static_cast<int>(type), elements.data(), bytes, &bytes));
  return elements;
}

}  // namespace

void GraphReader::add_attributes(onnx::NodeParts& parts, const OrtNode* node) {
  for (const OrtOpAttr* attribute : list(api().Node_GetNumAttributes, api().Node_GetAttributes, node)) {
    const std::string name = get<const char*>(api().OpAttr_GetName, attribute);
    const auto type = static_cast<AttributeType>(get<int>(api().OpAttr_GetType, attribute));
    const auto add = [&](auto value) { parts.attributes.push_back({name, std::move(value)}); };
    switch (type) {
      case AttributeType::integer: add(elements_of<std::int64_t>(attribute, type).at(0)); break;
      case AttributeType::integers: add(elements_of<std::int64_t>(attribute, type)); break;
      case AttributeType::real: add(elements_of<float>(attribute, type).at(0)); break;
      case AttributeType::reals: add(elements_of<float>(attribute, type)); break;
      case AttributeType::text: {
        const std::vector<char> text = elements_of<char>(attribute, type);
        add(std::string(text.begin(), text.end()));
        break;
      }
      case AttributeType::texts: {
        // The texts follow one another, each with a zero at its end.
        const std::vector<char> all = elements_of<char>(attribute, type);
        std::vector<std::string> texts;
        for (auto at = all.begin(); at != all.end();) {
          const auto end = std::find(at, all.end(), '\0');
          texts.emplace_back(at, end);
          at = end == all.end() ? end : end + 1;
        }
        add(std::move(texts));
        break;
      }
      case AttributeType::tensor: {
        OrtValue* value = get<OrtValue*>(api().OpAttr_GetTensorAttributeAsOrtValue, attribute);
        owned_.push_back(value);
        if (layout_of(value).type != type_of_texts) add(tensor_of("", value));
        break;
      }
      case AttributeType::graph:  // Node_GetSubgraphs has the graphs.
      case AttributeType::undefined: break;
    }
  }
}

}  // namespace crisol::ort
