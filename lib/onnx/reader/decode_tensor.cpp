#include <algorithm>
#include <charconv>

#include "onnx/reader/decode.h"

namespace crisol::onnx::file {

namespace {

// The largest number of bits in a tensor.
constexpr std::uint64_t limit = std::uint64_t{1} << 62;

/// The number of elements. Throws for negative sizes, and if the product of all sizes except for zeros exceeds the
/// limit.
std::int64_t count_of(Message& in, const std::vector<std::int64_t>& sizes, ElementType type) {
  const auto bits = static_cast<std::uint64_t>(std::max(bits_of(type), 8));
  std::uint64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) in.refuse("the size ", size, " is negative");
    is_empty = is_empty || size == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
    if (count > limit / bits / factor) in.refuse("the sizes multiply to too many elements");
    count *= factor;
  }
  return is_empty ? 0 : static_cast<std::int64_t>(count);
}

/// How many values the field must have that holds a tensor's elements.
std::uint64_t values_of(const TensorProto& tensor) {
  const auto count = static_cast<std::uint64_t>(tensor.count);
  switch (tensor.type) {
    case ElementType::c64:
    case ElementType::c128: return 2 * count;
    case ElementType::u4:
    case ElementType::i4:
    case ElementType::f4e2m1:
    case ElementType::u2:
    case ElementType::i2: return tensor.byte_count();
    default: return count;
  }
}

std::uint64_t parse_number(Message& in, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) in.refuse(in_quotes(text), " is no number of bytes");
  return value;
}

void decode_external(Message& in, TensorProto& tensor) {
  std::pair<std::string_view, std::string_view> entry;
  decode_entry(in, entry);
  if (entry.first == "location") tensor.external.location = entry.second;
  if (entry.first == "offset") tensor.external.offset = parse_number(in, entry.second);
  if (entry.first == "length") tensor.external.length = parse_number(in, entry.second);
}

/// Counts the values in the current field, which holds elements.
std::uint64_t count_values(Message& in) {
  const auto field = static_cast<DataField>(in.field());
  if (field == DataField::strings) {
    in.text();
    return 1;
  }
  if (field == DataField::floats) return in.fixed(4).size() / 4;
  if (field == DataField::doubles) return in.fixed(8).size() / 8;
  return in.skip_integers();
}

/// Where a message's fields say that the data are.
struct Found {
  DataField field = DataField::none;
  std::uint64_t values = 0;
  bool raw = false, external = false;
};

void check(Message& in, TensorProto& tensor, const Found& found) {
  if (tensor.type == ElementType::undefined) in.refuse("the tensor has no element type");
  tensor.count = count_of(in, tensor.sizes, tensor.type);
  const bool is_text = tensor.type == ElementType::string;
  if ((found.external || found.raw) && is_text) in.refuse("strings lie outside of string_data");
  if (found.external) {
    tensor.place = TensorProto::Place::external;
    if (found.raw || found.values > 0) in.refuse("the tensor has data in the model and in another file");
    if (tensor.external.location.empty()) in.refuse("the data lie in another file, and its location is missing");
    if (tensor.external.length && *tensor.external.length != tensor.byte_count())
      in.refuse("the tensor takes ", tensor.byte_count(), " bytes, and ", *tensor.external.length, " lie in ",
                in_quotes(tensor.external.location));
    return;
  }
  if (found.raw) {
    tensor.place = TensorProto::Place::raw;
    if (found.values > 0) in.refuse("the tensor has data in raw_data and in field ", static_cast<int>(found.field));
    if (tensor.bytes.size() != tensor.byte_count())
      in.refuse("raw_data has ", tensor.bytes.size(), " bytes, ", tensor.count, " elements of ", name_of(tensor.type),
                " take ", tensor.byte_count());
    return;
  }
  tensor.place = TensorProto::Place::fields;
  tensor.bytes = in.bytes();
  if (found.values > 0 && found.field != data_field_of(tensor.type))
    in.refuse("elements of ", name_of(tensor.type), " lie in field ", static_cast<int>(found.field), ", field ",
              static_cast<int>(data_field_of(tensor.type)), " expected");
  if (found.values != values_of(tensor))
    in.refuse("the tensor has ", found.values, " values, ", tensor.count, " elements of ", name_of(tensor.type),
              " take ", values_of(tensor));
}

}  // namespace

void decode_tensor(Message& in, TensorProto& tensor) {
  Found found;
  while (in.next()) switch (in.field()) {
      case 1: in.integers(tensor.sizes); break;
      case 2: tensor.type = decode_element_type(in); break;
      case 3: in.refuse("the tensor is stored in segments, which is not supported");
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11: {
        const auto field = static_cast<DataField>(in.field());
        const std::uint64_t values = count_values(in);
        if (found.values > 0 && values > 0 && field != found.field) in.refuse("the tensor has data in two fields");
        if (values > 0) found.field = field;
        found.values += values;
        break;
      }
      case 8: in.set_name(tensor.name = in.text()); break;
      case 9:
        in.only_once("raw_data");
        tensor.bytes = in.text();
        found.raw = true;
        break;
      case 13: {
        Message message(in, "external data");
        decode_external(message, tensor);
        break;
      }
      case 14: found.external = in.integer() == 1; break;
      default: break;
    }
  check(in, tensor, found);
}

void decode_sparse_tensor(Message& in, SparseTensor& tensor) {
  const auto decode = [&](const char* what, TensorProto& part) {
    in.only_once(what);
    Message message(in, what);
    decode_tensor(message, part);
  };
  while (in.next()) switch (in.field()) {
      case 1: decode("values", tensor.values); break;
      case 2: decode("indices", tensor.indices); break;
      case 3: in.integers(tensor.sizes); break;
      default: break;
    }
  in.set_name(tensor.values.name);
  count_of(in, tensor.sizes, tensor.values.type);
  if (tensor.values.sizes.size() != 1) in.refuse("the values have ", tensor.values.sizes.size(), " axes, 1 expected");
  const TensorProto& indices = tensor.indices;
  const std::size_t axes = indices.sizes.size();
  if (indices.type != ElementType::i64 || (axes != 1 && axes != 2) || indices.sizes[0] != tensor.values.count ||
      (axes == 2 && indices.sizes[1] != static_cast<std::int64_t>(tensor.sizes.size())))
    in.refuse("the indices do not fit ", tensor.values.count, " values in ", tensor.sizes.size(), " axes");
}

}  // namespace crisol::onnx::file
