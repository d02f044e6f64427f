// Element types of ONNX and of the library.
#pragma once

#include <optional>

#include "crisol/dtype.h"
#include "onnx/reader/element_type.h"

namespace crisol::onnx {

/// The library's type; nothing if it has none.
std::optional<DType> dtype_of(file::ElementType type) noexcept;
/// The library's type of the number that an attribute gives. Throws Error (invalid_argument) if it has none.
DType dtype_of_number(std::int64_t number);

}  // namespace crisol::onnx
