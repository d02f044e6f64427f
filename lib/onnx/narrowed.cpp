// Models with f64 that are computed in f32.
#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

using file::ElementType;
using file::in_quotes;
using graph::Value;

namespace {

bool has_f64(const file::Type& type) {
  return type.element == ElementType::f64 || std::any_of(type.inner.begin(), type.inner.end(), has_f64);
}

bool names_f64(const Call::Attribute& attribute) {
  const file::Attribute& value = *attribute.value;
  const bool names_type = attribute.name == "to" || attribute.name == "dtype" || attribute.name == "output_datatype";
  return names_type && (value.integers == std::vector<std::int64_t>{static_cast<std::int64_t>(ElementType::f64)} ||
                        value.strings == std::vector<std::string_view>{"DOUBLE"});
}

bool holds_f64(const Call::Attribute& attribute) {
  const auto is_f64 = [](const file::TensorProto& tensor) { return tensor.type == ElementType::f64; };
  return std::any_of(attribute.value->tensors.begin(), attribute.value->tensors.end(), is_f64);
}

/// Whether all nodes, and those of their bodies, compute f64 as it is.
bool compute_f64(const std::vector<file::Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const file::Node& node) {
    return computes_f64(node.domain, node.op) &&
           std::all_of(node.attributes.begin(), node.attributes.end(), [](const file::Attribute& attribute) {
             return std::all_of(attribute.graphs.begin(), attribute.graphs.end(),
                                [](const file::Graph& graph) { return compute_f64(graph.nodes); });
           });
  });
}

}  // namespace

bool Importer::narrows(const file::ModelProto& model, Device device) {
  return !device.info().fp64 || !compute_f64(model.graph.nodes) ||
         !std::all_of(model.functions.begin(), model.functions.end(),
                      [](const file::Function& function) { return compute_f64(function.nodes); });
}

void Importer::check_model_value(const file::ValueInfoProto& value, const char* what) {
  if (narrows_ && has_f64(value.type))
    problems_.add(concat(what, ": elements of f64 are not supported"), in_quotes(value.name));
}

Value Importer::kept(Value declared) const {
  if (narrows_ && declared.dtype == DType::f64) declared.dtype.reset();
  return declared;
}

void Importer::narrow(std::vector<Call::Attribute>& attributes, const std::string& node) {
  for (Call::Attribute& attribute : attributes) {
    if (names_f64(attribute) || holds_f64(attribute)) narrowed_.insert(node);
    if (!names_f64(attribute)) continue;
    file::Attribute& f32 = changed_.emplace_back(*attribute.value);
    if (!f32.integers.empty()) f32.integers = {static_cast<std::int64_t>(ElementType::f32)};
    if (!f32.strings.empty()) f32.strings = {"FLOAT"};
    attribute.value = &f32;
  }
}

void Importer::warn_of_narrowed() const {
  if (narrowed_.empty()) return;
  constexpr std::size_t most = 5;
  std::string text = concat("crisol: warning: ", file_.path(), ": f64 is computed in f32:");
  std::size_t count = 0;
  for (const std::string& name : narrowed_)
    if (++count <= most) text += (count == 1 ? " " : ", ") + name;
  if (count > most) text += concat(" and ", count - most, " more");
  std::cerr << text << '\n';
}

}  // namespace crisol::onnx
