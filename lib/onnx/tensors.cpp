#include "onnx/tensors.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "base/whole.h"
#include "crisol/dtype_table.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/small_types.h"
#include "tensor/upload.h"

namespace crisol::onnx {

namespace {

using graph::Datum;

std::vector<std::int64_t> numbers_of(std::string_view bytes, DType dtype) {
  return with_host_type(dtype, [&](auto element) {
    std::vector<std::int64_t> numbers(bytes.size() / sizeof element);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
      if constexpr (std::is_integral_v<decltype(element)>)
        numbers[i] = static_cast<std::int64_t>(+element);
      else
        numbers[i] = whole_part(as_double(element));
    }
    return numbers;
  });
}

/// The number in `bytes`, which hold one element.
double number_of(std::string_view bytes, DType dtype) {
  return with_host_type(dtype, [&](auto element) {
    std::memcpy(&element, bytes.data(), sizeof element);
    return as_double(element);
  });
}

/// Converts elements of f64 to f32.
std::string narrowed(std::string_view bytes) {
  std::string narrow(bytes.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size() / sizeof(double); ++i) {
    double wide = 0;
    bytes.copy(reinterpret_cast<char*>(&wide), sizeof wide, sizeof wide * i);
    const auto number = static_cast<float>(wide);
    std::memcpy(narrow.data() + sizeof number * i, &number, sizeof number);
  }
  return narrow;
}

/// The positions of a sparse tensor's elements in the whole tensor. The file's indices are such positions, or one index
/// for each axis.
std::vector<std::int64_t> places_of(const std::vector<std::int64_t>& indices, bool by_axes, const Shape& shape) {
  const std::size_t axes = by_axes ? static_cast<std::size_t>(shape.rank()) : 1;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i + axes <= indices.size(); i += axes) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t index = indices[i + axis], size = by_axes ? shape[static_cast<int>(axis)] : shape.numel();
      if (index < 0 || index >= size)
        fail(ErrorCode::io, "onnx", "a sparse tensor of shape ", shape, " has an element at ", index);
      place = place * size + index;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace

graph::Value value_of(const Datum& datum) {
  graph::Value value;
  value.dtype = datum.dtype();
  value.shape.emplace();
  for (const std::int64_t size : datum.shape()) value.shape->push_back({size, ""});
  return value;
}

graph::Texts Tensors::texts_of(const file::TensorProto& tensor) {
  if (tensor.type != file::ElementType::string) return nullptr;
  graph::Texts& texts = texts_[&tensor];
  if (texts == nullptr) {
    std::vector<std::string_view> all = file_.strings_of(tensor);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    texts = std::make_shared<const std::vector<std::string>>(all.begin(), all.end());
  }
  return texts;
}

graph::Texts Tensors::texts_of_constant(const std::vector<Call::Attribute>& attributes) {
  const file::Attribute& a = *attributes[0].value;
  return a.kind == file::Attribute::Kind::tensor ? texts_of(a.tensors[0]) : nullptr;
}

int Tensors::small_type_of_constant(const std::vector<Call::Attribute>& attributes) {
  const file::Attribute& a = *attributes[0].value;
  const bool is_small = a.kind == file::Attribute::Kind::tensor && small_type(a.tensors[0].type) != nullptr;
  return is_small ? static_cast<int>(a.tensors[0].type) : 0;
}

Datum Tensors::positions_of(const file::TensorProto& tensor) {
  require(tensor.sizes.size() <= Shape::max_rank, "onnx", "a tensor has ", tensor.sizes.size(), " axes, at most ",
          Shape::max_rank, " allowed");
  const graph::Texts texts = texts_of(tensor);
  std::vector<std::int64_t> positions;
  for (const std::string_view text : file_.strings_of(tensor))
    positions.push_back(std::lower_bound(texts->begin(), texts->end(), text) - texts->begin());
  const Shape shape(tensor.sizes);
  if (graph::may_be_shape(shape, DType::i64)) return Datum(std::move(positions), shape);
  return from_vector(positions, shape, device_);
}

std::pair<DType, Shape> Tensors::layout_of(const file::TensorProto& tensor) const {
  auto layout = onnx::layout_of(tensor);
  if (narrows_ && layout.first == DType::f64) layout.first = DType::f32;
  return layout;
}

Datum Tensors::read(const file::TensorProto& tensor) {
  if (tensor.type == file::ElementType::string) return positions_of(tensor);
  const auto [dtype, shape] = layout_of(tensor);
  const file::Elements elements = file_.elements_of(tensor);
  if (const SmallType* const small = small_type(tensor.type))
    return made_of(unpacked(elements.bytes(), shape.numel(), *small), shape, dtype);
  if (narrows_ && tensor.type == file::ElementType::f64) return made_of(narrowed(elements.bytes()), shape, dtype);
  if (graph::may_be_shape(shape, dtype)) return Datum(numbers_of(elements.bytes(), dtype), shape, dtype);
  constexpr std::size_t least_in_file = 4096;  // A page.
  if (is_floating(dtype) && elements.file != nullptr && elements.stored.size() >= least_in_file &&
      io::MappedFile::may_be_replaced())
    return stored_tensor(
        elements.stored, shape, dtype, device_, [file = elements.file] { file->require_unchanged("onnx"); },
        io::MappedFile::give_back);
  // The tensor is uploaded in parts. So for a large model, memory never holds both the file and the tensors.
  Tensor made = upload_in_parts(elements.bytes(), shape, dtype, device_, [&](std::string_view part) {
    if (elements.file != nullptr) io::MappedFile::give_back(part);
  });
  if (shape.numel() != 1) return made;
  return {std::move(made), number_of(elements.bytes(), dtype)};
}

Datum Tensors::made_of(std::string_view bytes, const Shape& shape, DType dtype) {
  if (graph::may_be_shape(shape, dtype)) return Datum(numbers_of(bytes, dtype), shape, dtype);
  Tensor made = upload_in_parts(bytes, shape, dtype, device_, [](std::string_view) {});
  if (shape.numel() != 1) return made;
  return {std::move(made), number_of(bytes, dtype)};
}

Datum Tensors::dense(const file::SparseTensor& tensor) {
  const DType dtype = layout_of(tensor.values).first;
  require(small_type(tensor.values.type) == nullptr, "onnx", "a sparse tensor of ", name_of(tensor.values.type),
          " is not supported");
  require(tensor.sizes.size() <= Shape::max_rank, "onnx", "a tensor has ", tensor.sizes.size(), " axes, at most ",
          Shape::max_rank, " allowed");
  const Shape shape(tensor.sizes);
  // The number of elements is limited, because few bytes in a file can mean many zeros.
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const std::size_t width = size_of(dtype);
  require(shape.numel() <= most / static_cast<std::int64_t>(width), "onnx", "a sparse tensor of shape ", shape,
          " takes more than ", most, " bytes, which is not supported");
  const file::Elements found = file_.elements_of(tensor.values);
  const std::string elements =
      narrows_ && tensor.values.type == file::ElementType::f64 ? narrowed(found.bytes()) : std::string(found.bytes());
  const std::vector<std::int64_t> indices = numbers_of(file_.elements_of(tensor.indices).bytes(), DType::i64),
                                  places = places_of(indices, tensor.indices.sizes.size() == 2, shape);
  std::string bytes(static_cast<std::size_t>(shape.numel()) * width, '\0');
  for (std::size_t i = 0; i < places.size(); ++i)
    elements.copy(bytes.data() + static_cast<std::size_t>(places[i]) * width, width, i * width);
  return made_of(bytes, shape, dtype);
}

Datum Tensors::shared(const file::TensorProto& tensor) {
  const auto [at, is_new] = known_.try_emplace(&tensor);
  if (is_new) at->second = read(tensor);
  return at->second;
}

Datum Tensors::constant(const std::vector<Call::Attribute>& attributes) {
  using Kind = file::Attribute::Kind;
  require(attributes.size() == 1, "onnx", "a constant has ", attributes.size(), " attributes, 1 expected");
  const file::Attribute& a = *attributes[0].value;
  const auto count = [](const auto& list) { return Shape(static_cast<std::int64_t>(list.size())); };
  switch (a.kind) {
    case Kind::tensor: return shared(a.tensors[0]);
    case Kind::sparse_tensor: return dense(a.sparse_tensors[0]);
    case Kind::f32: return {from_vector(a.floats, Shape(), device_), a.floats.front()};
    case Kind::floats: return from_vector(a.floats, count(a.floats), device_);
    case Kind::integer: return Datum(a.integers, Shape());
    case Kind::integers: return Datum(a.integers, count(a.integers));
    default:
      fail(ErrorCode::invalid_argument, "onnx", "attribute ", file::in_quotes(attributes[0].name), " is not supported");
  }
}

bool Tensors::equal(const file::TensorProto& a, const file::TensorProto& b) {
  if (a.type != b.type || a.sizes != b.sizes) return false;
  if (a.type == file::ElementType::string) return file_.strings_of(a) == file_.strings_of(b);
  return file_.elements_of(a).bytes() == file_.elements_of(b).bytes();
}

}  // namespace crisol::onnx
