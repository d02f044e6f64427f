// Memory of the library behind tensors of PyTorch. A tensor of PyTorch and a tensor of the library share storage,
// offset, sizes and strides.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "crisol/tensor.h"

namespace crisol_torch {

/// The library's dtype, or nothing if the library does not have it.
std::optional<crisol::DType> dtype_of(at::ScalarType type) noexcept;
/// PyTorch's dtype.
at::ScalarType scalar_type_of(crisol::DType dtype) noexcept;

/// Whether tensors of a type can be on the device. Ops of types that the library does not have run on the CPU.
bool holds(at::ScalarType type) noexcept;

/// Whether the library has the type, and computes it in f32.
bool computes_in_f32(at::ScalarType type) noexcept;

/// PyTorch's allocator of the device.
c10::Allocator* device_allocator();

/// The bytes of a storage as a tensor of u8. A storage without bytes has no memory.
crisol::Tensor bytes_of(const c10::Storage& storage);

/// The library's tensor over the memory of a tensor of PyTorch. Refuses another device, and a dtype that the library
/// does not have, by a Refusal (call.h).
crisol::Tensor tensor_of(const at::Tensor& x);

/// A tensor of PyTorch over the memory of a tensor of the library.
at::Tensor wrap(const crisol::Tensor& x);

/// The Shape of PyTorch's sizes, strides or axes.
inline crisol::Shape shape_of(at::IntArrayRef sizes) { return {sizes.data(), sizes.size()}; }
/// The sizes of a Shape.
inline at::IntArrayRef sizes_of(const crisol::Shape& shape) { return {shape.begin(), shape.end()}; }

/// A device of PyTorch.
inline at::Device torch_device(int index) { return {at::kPrivateUse1, static_cast<at::DeviceIndex>(index)}; }

}  // namespace crisol_torch
