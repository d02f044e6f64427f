// The numbers of element types in ONNX files (TensorProto.DataType of onnx.proto).
#pragma once

#include <cstdint>
#include <optional>

#include "base/all_dtypes.h"

namespace crisol {

constexpr std::int64_t onnx_element_number(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return 1;
    case DType::u8: return 2;
    case DType::i32: return 6;
    case DType::i64: return 7;
    case DType::boolean: return 9;
    case DType::f16: return 10;
  }
  return 0;
}

/// The library's type of a number; nothing if the library has none.
constexpr std::optional<DType> dtype_of_onnx_element(std::int64_t number) noexcept {
  for (const DType dtype : all_dtypes)
    if (onnx_element_number(dtype) == number) return dtype;
  return std::nullopt;
}

}  // namespace crisol
