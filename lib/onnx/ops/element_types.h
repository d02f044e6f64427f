// Element types of ONNX and of the library.
#pragma once

#include <optional>
#include <utility>

#include "crisol/dtype.h"
#include "crisol/shape.h"
#include "graph/graph.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The library's type that is the same. Nothing if the library does not have it.
std::optional<DType> dtype_of(file::ElementType type) noexcept;
/// The library's type for a number in an attribute. Throws Error (invalid_argument) if the library does not have the
/// type.
DType dtype_of_number(std::int64_t number);
/// The type in which the library keeps a tensor of the file, and its shape. Throws Error (invalid_argument) if the
/// library does not have the type.
std::pair<DType, Shape> layout_of(const file::TensorProto& tensor);

/// What a type in the file says about a value: a tensor, a sequence of tensors, or an optional value of either. A
/// missing type says nothing. Throws Error (invalid_argument) for other types, for elements that the library does not
/// have, and for too many axes.
graph::Value value_of_type(const file::Type& type);

}  // namespace crisol::onnx
