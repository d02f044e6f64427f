// Tensors of host bytes that are read part by part.
#pragma once

#include <functional>
#include <string_view>

#include "crisol/tensor.h"

namespace crisol {

/// A tensor from host bytes. `read` is called for each part that is no longer needed.
Tensor upload_in_parts(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                       const std::function<void(std::string_view part)>& read);

/// A tensor whose elements stay in host bytes until the tensor needs memory. Then `begin` is called, and the elements
/// are read as in upload_in_parts. `begin` may throw if the bytes are no longer valid.
Tensor stored_tensor(std::string_view bytes, const Shape& shape, DType dtype, Device device,
                     std::function<void()> begin, std::function<void(std::string_view part)> read);

}  // namespace crisol
