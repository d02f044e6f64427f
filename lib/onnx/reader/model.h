// A decoded ONNX model: the messages of onnx.proto as plain structs. If the public API has a struct of the same name,
// the message's name is used, such as TensorProto. Texts and data are views into the mapped file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/reader/element_type.h"

namespace crisol::onnx::file {

using Metadata = std::vector<std::pair<std::string_view, std::string_view>>;

struct OperatorSetIdProto {
  std::string_view domain;  ///< Empty for ONNX's own ops.
  std::int64_t version = 0;
};

/// A size in a shape: a number, a name, or neither if it is unknown.
struct DimensionProto {
  std::optional<std::int64_t> size;
  std::string_view name;
};

/// The type of a value. Sequences, optionals and maps have the types of their elements in `inner`.
struct Type {
  enum class Kind : std::uint8_t { none, tensor, sparse_tensor, sequence, optional, map, opaque };
  Kind kind = Kind::none;
  ElementType element = ElementType::undefined;      ///< The element type of a tensor, or the type of a map's keys.
  std::optional<std::vector<DimensionProto>> shape;  ///< Nothing if not even the number of axes is known.
  std::vector<Type> inner;                           ///< One type, or none.
};

struct ValueInfoProto {
  std::string_view name;
  Type type;
};

/// A range of bytes in a file next to the model. Only the form of the numbers has been checked.
struct ExternalData {
  std::string_view location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

/// A constant tensor. The decoder has checked that the number of bytes or elements fits the sizes. External data are
/// checked only when they are mapped.
struct TensorProto {
  enum class Place : std::uint8_t {
    fields,    ///< In the field for this type of elements. `bytes` is then the whole message.
    raw,       ///< In raw_data: `bytes` are the elements, little-endian.
    external,  ///< In a separate file.
  };
  std::string_view name;
  ElementType type = ElementType::undefined;
  Place place = Place::fields;
  std::vector<std::int64_t> sizes;
  std::int64_t count = 0;  ///< The number of elements, the product of the sizes.
  std::string_view bytes;
  ExternalData external;

  /// The bytes of all elements. Elements of less than 8 bits are packed. 0 for strings.
  std::uint64_t byte_count() const noexcept {
    return (static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(bits_of(type)) + 7) / 8;
  }
};

struct SparseTensor {
  TensorProto values, indices;
  std::vector<std::int64_t> sizes;
};

struct Graph;

/// An attribute of a node. A kind with one element stores it in the same list as the kind with several elements.
struct Attribute {
  /// The numbers are those of AttributeProto.AttributeType.
  enum class Kind : std::uint8_t {
    undefined,  ///< Only in a reference to a function's attribute.
    f32,
    integer,
    string,
    tensor,
    graph,
    floats,
    integers,
    strings,
    tensors,
    graphs,
    sparse_tensor,
    sparse_tensors,
    type,
    types,
  };
  std::string_view name;
  std::string_view reference;  ///< The function's attribute that has the value, or empty.
  Kind kind = Kind::undefined;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  std::vector<std::string_view> strings;
  std::vector<TensorProto> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparse_tensors;
  std::vector<Type> types;
};

struct Node {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;  ///< An empty name means that an optional value is left out.
  std::vector<Attribute> attributes;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseTensor> sparse_initializers;
  std::vector<ValueInfoProto> inputs, outputs, values;
};

/// An op that the model itself defines with other ops.
struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes;   ///< The attributes that a call must have.
  std::vector<Attribute> default_attributes;  ///< The attributes that have a default.
  std::vector<Node> nodes;
  std::vector<OperatorSetIdProto> operator_sets;
  std::vector<ValueInfoProto> values;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::string_view producer, producer_version, domain, doc;
  std::int64_t version = 0;  ///< The model's version, which its author gave.
  std::vector<OperatorSetIdProto> operator_sets;
  Graph graph;
  std::vector<Function> functions;
  Metadata metadata;
  bool has_training = false;  ///< Whether the file also has graphs for training. They are not decoded.
};

}  // namespace crisol::onnx::file
