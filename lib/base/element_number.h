// The numbers of element types in ONNX files (TensorProto.DataType of onnx.proto).
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/dtype_table.h"

namespace crisol {

constexpr std::int64_t onnx_element_number(DType dtype) noexcept { return dtype_row(dtype).onnx; }

/// The library's type of a number; nothing if the library has none.
constexpr std::optional<DType> dtype_of_onnx_element(std::int64_t number) noexcept {
  for (const DType dtype : all_dtypes)
    if (onnx_element_number(dtype) == number) return dtype;
  return std::nullopt;
}

}  // namespace crisol
