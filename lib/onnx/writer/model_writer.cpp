#include "onnx/writer/model_writer.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "base/element_number.h"
#include "base/text.h"
#include "crisol/version.h"
#include "io/files/atomic_file.h"
#include "onnx/ops/op_names.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using protozero::pbf_writer;

constexpr const char* op = "onnx";
// In the file next to the model, elements begin at multiples of this number, so that they can be mapped.
constexpr std::uint64_t alignment = 4096;
constexpr std::uint64_t min_external = 1024;

/// A constant of the model.
struct Initializer {
  std::string name;
  graph::Datum datum;
  std::uint64_t offset = 0;  ///< The position in the file next to the model.
  bool is_external = false;

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(datum.shape().numel()) * size_of(datum.dtype()); }
  /// The elements in the form for the file.
  std::vector<std::byte> elements() const {
    std::vector<std::byte> all(bytes());
    datum.tensor(Device()).read_bytes(all.data());
    return all;
  }
};

std::vector<Initializer> initializers_of(const graph::Graph& graph, const std::vector<Tensor>& weights) {
  std::vector<Initializer> all;
  const auto name = [&](int value) { return graph.values[static_cast<std::size_t>(value)].name; };
  for (std::size_t i = 0; i < weights.size(); ++i) all.push_back({name(graph.weights[i]), weights[i]});
  for (const auto& [value, datum] : graph.constants) all.push_back({name(value), datum});
  return all;
}

void check_names(const graph::Graph& graph) {
  std::set<std::string> names;
  std::set<int> used(graph.inputs.begin(), graph.inputs.end());
  for (const graph::Node& node : graph.nodes) {
    used.insert(node.inputs.begin(), node.inputs.end());
    used.insert(node.outputs.begin(), node.outputs.end());
  }
  used.erase(graph::absent);
  for (const int value : used) {
    const std::string& name = graph.values[static_cast<std::size_t>(value)].name;
    require(!name.empty(), op, "a value of the graph has no name");
    require(names.insert(name).second, op, "two values of the graph have the name ", file::in_quotes(name));
  }
}

/// The lowest operator set version, at least 17, that has the traced form of all ops.
std::int64_t version_for(const graph::Graph& graph) {
  using graph::Op;
  static const std::map<Op, std::int64_t> newer{
      {Op::attention, 23}, {Op::gelu, 20}, {Op::grid_sample, 20}, {Op::group_norm, 21}, {Op::mish, 18}};
  std::int64_t version = 17;
  for (const graph::Node& node : graph.nodes) {
    if (const auto at = newer.find(node.op); at != newer.end()) version = std::max(version, at->second);
    // ReduceSum has its axes as an input since version 13, other reductions since version 18.
    const std::string_view name = onnx_name(node);
    const bool reduces = name.starts_with("Reduce") && node.op != Op::sum && node.inputs.size() > 1;
    const auto reduction = node.attributes.find("reduction");
    const auto is = [&](const char* kind) { return reduction->second == graph::Attribute(std::string(kind)); };
    const bool takes_extreme = reduction != node.attributes.end() && (is("max") || is("min"));
    if (reduces || takes_extreme || name.starts_with("Bitwise") || node.attributes.count("antialias") > 0)
      version = std::max<std::int64_t>(version, 18);
  }
  return version;
}

/// The file format version that belongs to a version of the operator set.
std::int64_t ir_version_for(std::int64_t version) { return version <= 18 ? 8 : version < 23 ? 9 : 11; }

void write_attribute(pbf_writer& node, const std::string& name, const graph::Attribute& value) {
  enum Type { real = 1, integer = 2, string = 3, reals = 6, integers = 7, strings = 8 };
  pbf_writer out(node, 5);
  out.add_string(1, name);
  const auto type = [&](Type t) { out.add_enum(20, t); };
  if (const auto* x = std::get_if<double>(&value)) {
    out.add_float(2, static_cast<float>(*x));
    type(real);
  } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
    out.add_int64(3, *i);
    type(integer);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.add_bytes(4, *text);
    type(string);
  } else if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    for (const double one : *list) out.add_float(7, static_cast<float>(one));
    type(reals);
  } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t one : *numbers) out.add_int64(8, one);
    type(integers);
  } else {
    for (const std::string& one : std::get<std::vector<std::string>>(value)) out.add_bytes(9, one);
    type(strings);
  }
}

void write_node(pbf_writer& graph, const graph::Graph& from, const graph::Node& node) {
  pbf_writer out(graph, 1);
  const auto name = [&](int value) {
    return value == graph::absent ? std::string() : from.values[static_cast<std::size_t>(value)].name;
  };
  for (const int input : node.inputs) out.add_string(1, name(input));
  for (const int output : node.outputs) out.add_string(2, name(output));
  out.add_string(3, node.name);
  out.add_string(4, std::string(onnx_name(node)));
  for (const auto& [attribute, value] : node.attributes) write_attribute(out, attribute, value);
}

void write_value(pbf_writer& graph, std::uint32_t field, const graph::Value& value) {
  pbf_writer out(graph, field);
  out.add_string(1, value.name);
  pbf_writer type(out, 2);
  pbf_writer tensor(type, 1);
  if (value.dtype) tensor.add_int32(1, static_cast<std::int32_t>(onnx_element_number(*value.dtype)));
  if (!value.shape) return;
  // A message without fields must be written too. It means a shape of rank 0, or an unknown size.
  std::string shape;
  for (const graph::SymbolicSize& size : *value.shape) {
    std::string dimension;
    pbf_writer of_size(dimension);
    if (size.size)
      of_size.add_int64(1, *size.size);
    else if (!size.name.empty())
      of_size.add_string(2, size.name);
    pbf_writer(shape).add_message(1, dimension);
  }
  tensor.add_message(2, shape);
}

void write_entry(pbf_writer& tensor, const char* key, const std::string& value) {
  pbf_writer out(tensor, 13);
  out.add_string(1, key);
  out.add_string(2, value);
}

/// The message of a tensor, without its elements.
std::string tensor_message(const Initializer& initializer, const std::string& data_file) {
  std::string bytes;
  pbf_writer out(bytes);
  for (const std::int64_t size : initializer.datum.shape()) out.add_int64(1, size);
  out.add_int32(2, static_cast<std::int32_t>(onnx_element_number(initializer.datum.dtype())));
  out.add_string(8, initializer.name);
  if (initializer.is_external) {
    write_entry(out, "location", data_file);
    write_entry(out, "offset", std::to_string(initializer.offset));
    write_entry(out, "length", std::to_string(initializer.bytes()));
    out.add_enum(14, 1);
  }
  return bytes;
}

/// The beginning of a field whose content has `length` bytes.
std::string field_start(std::uint32_t field, std::uint64_t length) {
  std::string bytes;
  protozero::write_varint(std::back_inserter(bytes), (field << 3U) | 2U);
  protozero::write_varint(std::back_inserter(bytes), length);
  return bytes;
}

/// Gives tensors their positions in the file next to the model, and writes this file.
void write_external(const std::string& path, std::vector<Initializer>& all) {
  io::AtomicFile data(op, path);
  std::uint64_t end = 0;
  for (Initializer& one : all) {
    if (one.bytes() < min_external) continue;
    one.is_external = true;
    one.offset = (end + alignment - 1) / alignment * alignment;
    const std::vector<std::byte> elements = one.elements(), gap(one.offset - end);
    data.write(gap.data(), gap.size());
    data.write(elements.data(), elements.size());
    end = one.offset + elements.size();
  }
  data.commit();
}

/// The model's message without its graph.
std::string model_message(std::int64_t version) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_int64(1, ir_version_for(version));
  out.add_string(2, "crisol");
  out.add_string(3, crisol::version());
  pbf_writer set(out, 8);
  set.add_string(1, "");
  set.add_int64(2, version);
  return bytes;
}

/// The graph's message without its initializers.
std::string graph_message(const graph::Graph& graph) {
  std::string bytes;
  pbf_writer out(bytes);
  for (const graph::Node& node : graph.nodes) write_node(out, graph, node);
  out.add_string(2, "crisol");
  for (const int value : graph.inputs) write_value(out, 11, graph.values[static_cast<std::size_t>(value)]);
  for (const int value : graph.outputs) write_value(out, 12, graph.values[static_cast<std::size_t>(value)]);
  return bytes;
}

}  // namespace

void write_model(const std::string& path, const graph::Graph& graph, const std::vector<Tensor>& weights,
                 std::uint64_t max_bytes) {
  check_names(graph);
  std::vector<Initializer> initializers = initializers_of(graph, weights);
  std::uint64_t total = 0;
  for (const Initializer& one : initializers) total += one.bytes();
  const std::string data_file = std::filesystem::path(path).filename().string() + ".data";
  if (total > max_bytes) write_external(path + ".data", initializers);

  // A part of the file before and with the elements of one tensor. Tensors are read from the device one after another,
  // so the lengths of all messages are computed first.
  struct Piece {
    const Initializer* initializer;
    std::string start;  ///< All bytes before the elements.
    std::uint64_t elements;
  };
  const std::string graph_head = graph_message(graph);
  std::uint64_t length = graph_head.size();
  std::vector<Piece> pieces;
  for (const Initializer& one : initializers) {
    std::string message = tensor_message(one, data_file);
    const std::uint64_t elements = one.is_external ? 0 : one.bytes();
    if (!one.is_external) message += field_start(9, elements);
    std::string start = field_start(5, message.size() + elements) + message;
    length += start.size() + elements;
    pieces.push_back({&one, std::move(start), elements});
  }
  io::AtomicFile out(op, path);
  const auto write = [&](const auto& bytes) { out.write(bytes.data(), bytes.size()); };
  write(model_message(version_for(graph)));
  write(field_start(7, length));
  write(graph_head);
  for (const Piece& piece : pieces) {
    write(piece.start);
    if (piece.elements > 0) write(piece.initializer->elements());
  }
  out.commit();
}

}  // namespace crisol::onnx
