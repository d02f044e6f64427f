#include "onnx/ops/element_types.h"

#include "base/element_number.h"
#include "base/text.h"
#include "onnx/ops/small_types.h"

namespace crisol::onnx {

std::optional<DType> dtype_of(file::ElementType type) noexcept {
  return dtype_of_onnx_element(static_cast<std::int64_t>(type));
}

DType dtype_of_number(std::int64_t number) {
  const auto type = file::element_type_of(number);
  require(type.has_value(), "onnx", "element type ", number, " is unknown");
  const auto dtype = dtype_of(*type);
  require(dtype.has_value(), "onnx", "elements of ", name_of(*type), " are not supported");
  return *dtype;
}

graph::Value value_of_type(const file::Type& type) {
  using Kind = file::Type::Kind;
  graph::Value value;
  const file::Type* inner = &type;
  const auto enter = [&](Kind kind) {
    if (inner->kind != kind || inner->inner.empty()) return false;
    inner = &inner->inner.front();
    return true;
  };
  value.is_optional = enter(Kind::optional);
  value.is_sequence = enter(Kind::sequence);
  if (inner->kind == Kind::none) return value;
  require(inner->kind == Kind::tensor, "onnx", "other values than tensors, sequences of tensors and optional ones are ",
          "not supported");
  if (const auto element = element_of(inner->element)) element->describe(value);
  require(value.dtype || inner->element == file::ElementType::undefined, "onnx", "elements of ",
          name_of(inner->element), " are not supported");
  if (!inner->shape) return value;
  require(inner->shape->size() <= Shape::max_rank, "onnx", "a tensor has ", inner->shape->size(), " axes, at most ",
          Shape::max_rank, " allowed");
  constexpr std::size_t longest_name = 100;
  value.shape.emplace();
  for (const file::DimensionProto& d : *inner->shape) {
    graph::SymbolicSize& size = value.shape->emplace_back();
    if (d.size && *d.size >= 0) size.size = d.size;
    if (d.name.size() <= longest_name) size.name = d.name;
  }
  return value;
}

std::pair<DType, Shape> layout_of(const file::TensorProto& tensor) {
  const auto element = element_of(tensor.type);
  require(element.has_value(), "onnx", "elements of ", name_of(tensor.type), " are not supported");
  require(tensor.sizes.size() <= Shape::max_rank, "onnx", "a tensor has ", tensor.sizes.size(), " axes, at most ",
          Shape::max_rank, " allowed");
  return {element->dtype, Shape(tensor.sizes)};
}

}  // namespace crisol::onnx
