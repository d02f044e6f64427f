// Tensors of host bytes that are read part by part.
#pragma once

#include <functional>
#include <string_view>

#include "crisol/tensor.h"

namespace crisol {

/// A tensor from host bytes. `read` is told of each part that is not needed any more.
Tensor upload_in_parts(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                       const std::function<void(std::string_view part)>& read);

/// A tensor whose elements stay in host bytes until the tensor needs memory. `begin` is then called, and the elements
/// are read as upload_in_parts reads them. `begin` may throw if the bytes are not good any more.
Tensor stored_tensor(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                     std::function<void()> begin, std::function<void(std::string_view part)> read);

}  // namespace crisol
