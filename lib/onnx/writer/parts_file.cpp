// Writes models from parts as ONNX files.
#include <limits>
#include <protozero/pbf_writer.hpp>

#include "base/text.h"
#include "crisol/onnx_parts.h"
#include "crisol/version.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using protozero::pbf_writer;

/// The bytes of all elements.
struct ConstantSize {
  std::uint64_t bytes = 0;

  void add(const TensorParts& tensor) { bytes += tensor.bytes; }
  void add(const GraphParts& graph) {
    for (const TensorParts& tensor : graph.initializers) add(tensor);
    for (const NodeParts& node : graph.nodes)
      for (const AttributeParts& attribute : node.attributes) {
        if (const auto* tensor = std::get_if<TensorParts>(&attribute.value)) add(*tensor);
        if (const auto* body = std::get_if<std::shared_ptr<const GraphParts>>(&attribute.value)) add(**body);
      }
  }
};

void write(pbf_writer out, const TensorParts& tensor) {
  for (const std::int64_t size : tensor.sizes) out.add_int64(1, size);
  out.add_int32(2, tensor.type);
  out.add_string(8, tensor.name);
  out.add_bytes(9, static_cast<const char*>(tensor.elements), tensor.bytes);
}

void write(pbf_writer out, const ValueParts& value) {
  out.add_string(1, value.name);
  if (value.type == 0) return;
  pbf_writer type(out, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, value.type);
  if (!value.shape) return;
  // A message without fields must be written too. It means a shape of rank 0, or an unknown size.
  std::string shape;
  for (const Dimension& d : *value.shape) {
    std::string bytes;
    pbf_writer dimension(bytes);
    if (d.size >= 0)
      dimension.add_int64(1, d.size);
    else if (!d.name.empty())
      dimension.add_string(2, d.name);
    pbf_writer(shape).add_message(1, bytes);
  }
  tensor.add_message(2, shape);
}

void write(pbf_writer out, const GraphParts& graph);

/// Writes the setting of an attribute, and its type.
struct Setting {
  enum Type { real = 1, integer, text, tensor, graph, reals, integers, texts };
  pbf_writer& out;

  void set(Type type) const { out.add_enum(20, type); }
  void operator()(float value) const {
    out.add_float(2, value);
    set(real);
  }
  void operator()(std::int64_t value) const {
    out.add_int64(3, value);
    set(integer);
  }
  void operator()(const std::string& value) const {
    out.add_bytes(4, value);
    set(text);
  }
  void operator()(const TensorParts& value) const {
    write(pbf_writer(out, 5), value);
    set(tensor);
  }
  void operator()(const std::shared_ptr<const GraphParts>& value) const {
    write(pbf_writer(out, 6), *value);
    set(graph);
  }
  void operator()(const std::vector<float>& values) const {
    for (const float one : values) out.add_float(7, one);
    set(reals);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t one : values) out.add_int64(8, one);
    set(integers);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& one : values) out.add_bytes(9, one);
    set(texts);
  }
};

void write(pbf_writer out, const NodeParts& node) {
  for (const std::string& input : node.inputs) out.add_string(1, input);
  for (const std::string& output : node.outputs) out.add_string(2, output);
  out.add_string(3, node.name);
  out.add_string(4, node.op);
  for (const AttributeParts& attribute : node.attributes) {
    pbf_writer setting(out, 5);
    setting.add_string(1, attribute.name);
    std::visit(Setting{setting}, attribute.value);
  }
  out.add_string(7, node.domain);
}

void write(pbf_writer out, const GraphParts& graph) {
  for (const NodeParts& node : graph.nodes) write(pbf_writer(out, 1), node);
  out.add_string(2, graph.name);
  for (const TensorParts& tensor : graph.initializers) write(pbf_writer(out, 5), tensor);
  for (const ValueParts& value : graph.inputs) write(pbf_writer(out, 11), value);
  for (const ValueParts& value : graph.outputs) write(pbf_writer(out, 12), value);
}

}  // namespace

std::string file_of(const ModelParts& parts) {
  ConstantSize constants;
  constants.add(parts.graph);
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  require(constants.bytes <= most, "onnx", "the constants of ", file::in_quotes(parts.name), " take ", constants.bytes,
          " bytes, and an ONNX file has at most ", most);
  std::string bytes;
  pbf_writer out(bytes);
  out.add_int64(1, 10);  // The version of the format that has all element types and ops of the parts.
  out.add_string(2, "crisol");
  out.add_string(3, version());
  write(pbf_writer(out, 7), parts.graph);
  for (const OperatorSet& set : parts.operator_sets) {
    pbf_writer one(out, 8);
    one.add_string(1, set.domain);
    one.add_int64(2, set.version);
  }
  return bytes;
}

}  // namespace crisol::onnx
