#include "onnx/reader/decode.h"

namespace crisol::onnx::file {

namespace {

void decode_dimension(Message& in, DimensionProto& dimension) {
  while (in.next()) switch (in.field()) {
      case 1:
        dimension.size = in.integer();
        dimension.name = {};
        break;
      case 2:
        dimension.name = in.text();
        dimension.size.reset();
        break;
      default: break;
    }
  // Some programs write an unknown size as -1, others as "?".
  if (dimension.size && *dimension.size < 0) dimension.size.reset();
  if (dimension.name == "?") dimension.name = {};
}

void decode_shape(Message& in, std::vector<DimensionProto>& shape) {
  while (in.next())
    if (in.field() == 1) decode_into(shape, in, "dimension", decode_dimension);
}

void decode_tensor_type(Message& in, Type& type) {
  while (in.next()) switch (in.field()) {
      case 1: type.element = decode_element_type(in); break;
      case 2: {
        in.only_once("shape");
        Message message(in, "shape");
        decode_shape(message, type.shape.emplace());
        break;
      }
      default: break;
    }
}

/// For sequences and optionals, field 1 has the type of the elements. For maps, field 1 has the type of the keys, and
/// field 2 the type of the values.
void decode_container(Message& in, Type& type) {
  const std::uint32_t inner = type.kind == Type::Kind::map ? 2 : 1;
  while (in.next()) {
    if (in.field() == inner) {
      in.only_once("type of elements");
      decode_into(type.inner, in, "type of elements", decode_type);
    } else if (in.field() == 1) {
      type.element = decode_element_type(in);
    }
  }
  if (type.inner.empty()) in.refuse("the type of the elements is missing");
}

}  // namespace

ElementType decode_element_type(Message& in) {
  const std::int64_t number = in.integer();
  const auto type = element_type_of(number);
  if (!type) in.refuse("element type ", number, " is unknown");
  return *type;
}

void decode_type(Message& in, Type& type) {
  using Kind = Type::Kind;
  const auto decode = [&](Kind kind, const char* what, void (*decoder)(Message&, Type&)) {
    if (type.kind != Kind::none) in.refuse("a second kind of type");
    type.kind = kind;
    Message message(in, what);
    decoder(message, type);
  };
  while (in.next()) switch (in.field()) {
      case 1: decode(Kind::tensor, "tensor type", decode_tensor_type); break;
      case 4: decode(Kind::sequence, "sequence type", decode_container); break;
      case 5: decode(Kind::map, "map type", decode_container); break;
      case 7:
        if (type.kind != Kind::none) in.refuse("a second kind of type");
        type.kind = Kind::opaque;
        break;
      case 8: decode(Kind::sparse_tensor, "sparse tensor type", decode_tensor_type); break;
      case 9: decode(Kind::optional, "optional type", decode_container); break;
      default: break;
    }
}

void decode_value(Message& in, ValueInfoProto& value) {
  while (in.next()) switch (in.field()) {
      case 1: in.set_name(value.name = in.text()); break;
      case 2: {
        in.only_once("type");
        Message message(in, "type");
        decode_type(message, value.type);
        break;
      }
      default: break;
    }
}

}  // namespace crisol::onnx::file
