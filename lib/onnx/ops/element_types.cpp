#include "onnx/ops/element_types.h"

#include "base/text.h"

namespace crisol::onnx {

std::optional<DType> dtype_of(file::ElementType type) noexcept {
  switch (type) {
    case file::ElementType::f32: return DType::f32;
    case file::ElementType::f16: return DType::f16;
    case file::ElementType::i32: return DType::i32;
    case file::ElementType::i64: return DType::i64;
    case file::ElementType::u8: return DType::u8;
    case file::ElementType::boolean: return DType::boolean;
    default: return std::nullopt;
  }
}

DType dtype_of_number(std::int64_t number) {
  const auto type = file::element_type_of(number);
  require(type.has_value(), "onnx", "element type ", number, " is unknown");
  const auto dtype = dtype_of(*type);
  require(dtype.has_value(), "onnx", "elements of ", name_of(*type), " are not supported");
  return *dtype;
}

std::pair<DType, Shape> layout_of(const file::TensorProto& tensor) {
  const auto dtype = dtype_of(tensor.type);
  require(dtype.has_value(), "onnx", "elements of ", name_of(tensor.type), " are not supported");
  require(tensor.sizes.size() <= Shape::max_rank, "onnx", "a tensor has ", tensor.sizes.size(), " axes, at most ",
          Shape::max_rank, " allowed");
  return {*dtype, Shape(tensor.sizes)};
}

}  // namespace crisol::onnx
