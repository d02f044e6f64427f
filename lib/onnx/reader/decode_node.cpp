#include <bit>

#include "onnx/reader/decode.h"

namespace crisol::onnx::file {

namespace {

using Kind = Attribute::Kind;

constexpr const char* kind_names[]{"UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
                                   "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
                                   "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

const char* name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

/// The only element of an attribute whose kind has one element.
template <class T>
T& only(std::vector<T>& list, Message& in) {
  return list.empty() ? in.add(list) : list.front();
}

template <class T>
void decode_only(std::vector<T>& list, Message& in, const char* what, void (*decode)(Message&, T&)) {
  in.only_once(what);
  Message message(in, what);
  decode(message, only(list, in));
}

/// Reads the value in the current field, and returns the value's kind.
Kind decode_field(Message& in, Attribute& a) {
  switch (in.field()) {
    case 2: only(a.floats, in) = in.real(); return Kind::f32;
    case 3: only(a.integers, in) = in.integer(); return Kind::integer;
    case 4: only(a.strings, in) = in.text(); return Kind::string;
    case 5: decode_only(a.tensors, in, "tensor", decode_tensor); return Kind::tensor;
    case 6: decode_only(a.graphs, in, "graph", decode_graph); return Kind::graph;
    case 7: in.reals(a.floats); return Kind::floats;
    case 8: in.integers(a.integers); return Kind::integers;
    case 9: in.add(a.strings, in.text()); return Kind::strings;
    case 10: decode_into(a.tensors, in, "tensor", decode_tensor); return Kind::tensors;
    case 11: decode_into(a.graphs, in, "graph", decode_graph); return Kind::graphs;
    case 14: decode_only(a.types, in, "type", decode_type); return Kind::type;
    case 15: decode_into(a.types, in, "type", decode_type); return Kind::types;
    case 22: decode_only(a.sparse_tensors, in, "sparse tensor", decode_sparse_tensor); return Kind::sparse_tensor;
    case 23: decode_into(a.sparse_tensors, in, "sparse tensor", decode_sparse_tensor); return Kind::sparse_tensors;
    default: return Kind::undefined;
  }
}

Kind decode_kind(Message& in) {
  const std::int64_t number = in.integer();
  if (number < 0 || number > static_cast<std::int64_t>(Kind::types))
    in.refuse("type ", number, " of an attribute is unknown");
  return static_cast<Kind>(number);
}

/// Adds a missing value, because files may leave out a value that is 0 or empty.
void fill_in(Message& in, Attribute& a) {
  switch (a.kind) {
    case Kind::f32: only(a.floats, in); break;
    case Kind::integer: only(a.integers, in); break;
    case Kind::string: only(a.strings, in); break;
    case Kind::tensor:
    case Kind::graph:
    case Kind::sparse_tensor:
    case Kind::type: in.refuse("the attribute is a ", name_of(a.kind), " and holds none");
    default: break;
  }
}

}  // namespace

void decode_attribute(Message& in, Attribute& attribute) {
  std::uint32_t found = 0;  // One bit for each kind.
  while (in.next()) switch (in.field()) {
      case 1: in.set_name(attribute.name = in.text()); break;
      case 20: attribute.kind = decode_kind(in); break;
      case 21: attribute.reference = in.text(); break;
      default: found |= 1u << static_cast<std::uint32_t>(decode_field(in, attribute)); break;
    }
  found &= ~1u;
  if (attribute.name.empty()) in.refuse("the attribute has no name");
  if (!attribute.reference.empty()) {
    if (found != 0)
      in.refuse("the attribute refers to ", in_quotes(attribute.reference), " and has a value of its own");
    return;
  }
  // The oldest ONNX files do not store the kind.
  if (attribute.kind == Kind::undefined && std::has_single_bit(found))
    attribute.kind = static_cast<Kind>(std::countr_zero(found));
  const std::uint32_t own = 1u << static_cast<std::uint32_t>(attribute.kind);
  if (attribute.kind == Kind::undefined)
    in.refuse(found == 0 ? "the attribute has no value" : "the attribute has values of several kinds");
  if ((found & ~own) != 0)
    in.refuse("the attribute is ", name_of(attribute.kind), " and holds ",
              name_of(static_cast<Kind>(std::countr_zero(found & ~own))));
  if (found == 0) fill_in(in, attribute);
}

void decode_node(Message& in, Node& node) {
  while (in.next()) switch (in.field()) {
      case 1: in.add(node.inputs, in.text()); break;
      case 2: in.add(node.outputs, in.text()); break;
      case 3: in.set_name(node.name = in.text()); break;
      case 4: node.op = in.text(); break;
      case 5: decode_into(node.attributes, in, "attribute", decode_attribute); break;
      case 7: node.domain = in.text(); break;
      case 8: node.overload = in.text(); break;
      default: break;
    }
  if (node.op.empty()) in.refuse("the node has no op_type");
  if (node.domain == "ai.onnx") node.domain = {};
}

}  // namespace crisol::onnx::file
