// The numbers of element types in ONNX files (TensorProto.DataType of onnx.proto).
#pragma once

#include <cstdint>

#include "crisol/dtype.h"

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

}  // namespace crisol
