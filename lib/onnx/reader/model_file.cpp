#include "onnx/reader/model_file.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "io/files/input_file.h"
#include "onnx/reader/decode.h"

namespace crisol::onnx::file {

namespace {

static_assert(std::endian::native == std::endian::little, "the data of ONNX's files are little-endian");

struct Range {
  std::int64_t least, largest;
};

/// The values that a field of integers may have, for elements of a type.
Range range_of(ElementType type) {
  switch (type) {
    case ElementType::boolean: return {0, 1};
    case ElementType::i8: return {-128, 127};
    case ElementType::i16: return {-32768, 32767};
    case ElementType::i32: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case ElementType::u32: return {0, std::numeric_limits<std::uint32_t>::max()};
    case ElementType::i64:
    case ElementType::u64:  // Stored with the same bits.
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    case ElementType::f6e2m3:
    case ElementType::f6e3m2: return {0, 63};
    default: break;
  }
  const int bits = std::clamp(bits_of(type), 8, 16);  // If elements have 2 or 4 bits, several share a byte.
  return {0, (std::int64_t{1} << bits) - 1};
}

/// Packs elements of 6 bits.
std::string packed(const std::string& values) {
  std::string bytes((values.size() * 6 + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto shifted = static_cast<unsigned>(static_cast<unsigned char>(values[i])) << (i * 6 % 8);
    const std::size_t at = i * 6 / 8;
    bytes[at] = static_cast<char>(bytes[at] | static_cast<char>(shifted));
    if (shifted > 0xff) bytes[at + 1] = static_cast<char>(bytes[at + 1] | static_cast<char>(shifted >> 8));
  }
  return bytes;
}

/// The elements of a tensor that are stored in the field for its type.
std::string field_data(Document document, const TensorProto& tensor) {
  document.budget =
      std::numeric_limits<std::uint64_t>::max();  // No limit is needed, because each element takes a byte in the file.
  Message in(document, tensor.bytes);
  std::string bytes;
  const DataField field = data_field_of(tensor.type);
  const Range range = range_of(tensor.type);
  const auto width = static_cast<std::size_t>(std::max(bits_of(tensor.type), 8) / 8);
  std::vector<std::int64_t> values;
  while (in.next()) {
    if (static_cast<DataField>(in.field()) != field) continue;
    if (field == DataField::floats || field == DataField::doubles) {
      bytes += in.fixed(field == DataField::floats ? 4 : 8);
      continue;
    }
    values.clear();
    in.integers(values);
    for (const std::int64_t value : values) {
      if (value < range.least || value > range.largest)
        in.refuse("tensor ", in_quotes(tensor.name), " of ", name_of(tensor.type), " holds ", value, ", from ",
                  range.least, " to ", range.largest, " allowed");
      bytes.append(reinterpret_cast<const char*>(&value), width);
    }
  }
  return bits_of(tensor.type) == 6 ? packed(bytes) : bytes;
}

}  // namespace

ProtoFile::ProtoFile(const std::string& path, const char* what)
    : file_(std::make_shared<const io::MappedFile>("onnx", path)),
      document_{file_->path(), file_->bytes(), budget_for(file_->bytes().size())},
      external_(file_->path()) {
  io::InputFile start("onnx", path);
  if (const std::string kind = start.kind(); !kind.empty()) start.refuse("this is ", kind, ", not ", what);
}

ProtoFile::ProtoFile(const std::string& name, std::string_view bytes)
    : document_{name, bytes, budget_for(bytes.size())}, external_(name) {}

ModelFile::ModelFile(const std::string& path) : ProtoFile(path, "an ONNX model") {
  Message in(document(), document().bytes);
  model_ = decode_model(in);
}

ModelFile::ModelFile(const std::string& name, std::string_view bytes) : ProtoFile(name, bytes) {
  Message in(document(), document().bytes);
  model_ = decode_model(in);
}

TensorFile::TensorFile(const std::string& path) : ProtoFile(path, "a tensor of ONNX") {
  Message in(document(), document().bytes);
  decode_tensor(in, tensor_);
}

Elements ProtoFile::elements_of(const TensorProto& tensor) {
  if (tensor.place == TensorProto::Place::fields) return {{}, field_data(document_, tensor), nullptr};
  const bool is_raw = tensor.place == TensorProto::Place::raw;
  const std::string_view bytes = is_raw ? tensor.bytes : external_.bytes_of(tensor);
  if (tensor.type == ElementType::boolean)
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (const auto value = static_cast<unsigned char>(bytes[i]); value > 1)
        fail(ErrorCode::io, "onnx", path(), ": tensor ", in_quotes(tensor.name), " of bool holds ",
             static_cast<int>(value), " at element ", i, ", only 0 and 1 allowed");
  return {bytes, {}, is_raw ? file_ : external_.file_of(tensor)};
}

std::vector<std::string_view> ProtoFile::strings_of(const TensorProto& tensor) {
  std::vector<std::string_view> strings;
  strings.reserve(static_cast<std::size_t>(tensor.count));
  Message in(document_, tensor.bytes);
  while (in.next())
    if (static_cast<DataField>(in.field()) == DataField::strings) strings.push_back(in.text());
  return strings;
}

}  // namespace crisol::onnx::file
