// The description of an ONNX file: its names, versions, inputs and outputs.
#include <algorithm>
#include <set>
#include <tuple>

#include "crisol/onnx.h"
#include "onnx/info.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

namespace {

std::string domain_text(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

std::string type_text(const file::Type& type) {
  using Kind = file::Type::Kind;
  const std::string inner = type.inner.empty() ? "" : type_text(type.inner.front());
  switch (type.kind) {
    case Kind::none: return "undefined";
    case Kind::tensor: return name_of(type.element);
    case Kind::sparse_tensor: return concat("sparse(", name_of(type.element), ')');
    case Kind::sequence: return concat("sequence(", inner, ')');
    case Kind::optional: return concat("optional(", inner, ')');
    case Kind::map: return concat("map(", name_of(type.element), ", ", inner, ')');
    case Kind::opaque: return "opaque";
  }
  return {};
}

ValueInfo info_of(const file::ValueInfoProto& value) {
  ValueInfo info{std::string(value.name), type_text(value.type), value.type.shape.has_value(), {}};
  if (value.type.shape)
    for (const file::DimensionProto& dimension : *value.type.shape)
      info.shape.push_back({dimension.size.value_or(-1), std::string(dimension.name)});
  return info;
}

/// Counts the ops and tensors of graphs, including the graphs in nodes.
class Count {
 public:
  Count(file::ModelFile& model, ModelInfo& info) : model_(model), info_(info) {}

  void visit(const file::Graph& graph) {
    for (const file::TensorProto& tensor : graph.initializers) visit(tensor);
    for (const file::SparseTensor& tensor : graph.sparse_initializers) visit(tensor.values);
    visit(graph.nodes);
  }

  void visit(const std::vector<file::Node>& nodes) {
    for (const file::Node& node : nodes) {
      ++ops_[{node.domain, node.op}];
      for (const file::Attribute& attribute : node.attributes) {
        for (const file::Graph& graph : attribute.graphs) visit(graph);
        for (const file::TensorProto& tensor : attribute.tensors) check_external(tensor);
      }
    }
  }

  void finish() {
    for (const auto& [op, nodes] : ops_) info_.ops.push_back({domain_text(op.first), std::string(op.second), nodes});
    std::stable_sort(info_.ops.begin(), info_.ops.end(),
                     [](const OpCount& a, const OpCount& b) { return a.nodes > b.nodes; });
    for (auto& [type, count] : types_) info_.initializers.push_back(std::move(count));
    std::stable_sort(info_.initializers.begin(), info_.initializers.end(),
                     [](const InitializerCount& a, const InitializerCount& b) { return a.bytes > b.bytes; });
    for (auto& [location, file] : files_) info_.external_files.push_back(std::move(file));
  }

 private:
  void visit(const file::TensorProto& tensor) {
    InitializerCount& count = types_.try_emplace(tensor.type).first->second;
    count.type = name_of(tensor.type);
    ++count.tensors;
    count.elements += tensor.count;
    count.bytes += tensor.byte_count();
    if (is_floating(tensor.type)) info_.parameters += tensor.count;
    check_external(tensor);
  }

  void check_external(const file::TensorProto& tensor) {
    if (tensor.place != file::TensorProto::Place::external) return;
    ExternalFile& file = files_[tensor.external.location];
    file.location = tensor.external.location;
    ++file.tensors;
    file.bytes += tensor.byte_count();
    if (!file.fault.empty()) return;
    try {
      model_.elements_of(tensor);
    } catch (const Error& error) {
      file.fault = error.what();
    }
  }

  file::ModelFile& model_;
  ModelInfo& info_;
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> ops_;
  std::map<file::ElementType, InitializerCount> types_;
  std::map<std::string_view, ExternalFile> files_;
};

}  // namespace

std::pair<std::vector<ValueInfo>, std::vector<ValueInfo>> values_of(const file::Graph& graph) {
  std::set<std::string_view> initializers;
  for (const file::TensorProto& tensor : graph.initializers) initializers.insert(tensor.name);
  for (const file::SparseTensor& tensor : graph.sparse_initializers) initializers.insert(tensor.values.name);
  std::vector<ValueInfo> inputs, outputs;
  for (const file::ValueInfoProto& value : graph.inputs)
    if (initializers.count(value.name) == 0) inputs.push_back(info_of(value));
  for (const file::ValueInfoProto& value : graph.outputs) outputs.push_back(info_of(value));
  return {std::move(inputs), std::move(outputs)};
}

ModelInfo read_info(const std::string& path) {
  file::ModelFile file(path);
  const file::ModelProto& model = file.model();
  ModelInfo info;
  info.path = path;
  info.file_bytes = file.size();
  info.ir_version = model.ir_version;
  info.producer = model.producer;
  info.producer_version = model.producer_version;
  info.domain = model.domain;
  info.model_version = model.version;
  info.has_training = model.has_training;
  for (const file::OperatorSetIdProto& set : model.operator_sets)
    info.operator_sets.push_back({domain_text(set.domain), set.version});
  std::tie(info.inputs, info.outputs) = values_of(model.graph);
  for (const auto& [key, text] : model.metadata) info.metadata[std::string(key)] = text;
  Count count(file, info);
  count.visit(model.graph);
  for (const file::Function& function : model.functions) {
    info.functions.push_back(
        {domain_text(function.domain), std::string(function.name), static_cast<std::int64_t>(function.nodes.size())});
    count.visit(function.nodes);
  }
  count.finish();
  return info;
}

}  // namespace crisol::onnx
