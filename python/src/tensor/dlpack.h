// The structs of DLPack 1.0 (https://dmlc.github.io/dlpack), by which libraries exchange arrays.
#pragma once

#include <array>
#include <cstdint>

#include "bindings.h"
#include "crisol/dtype_table.h"

namespace crisol::python {

/// from_dlpack().
void bind_from_dlpack(nb::module_& m);
/// The exchange with PyTorch's device, whose tensors share a Tensor with this module by a capsule.
void bind_torch(nb::module_& m);
/// Whether an object is a tensor of PyTorch on the device of torch_crisol.
bool is_on_torch_device(nb::handle object);
/// crisol.from_torch() and crisol.to_torch().
Tensor from_torch(nb::handle x);
nb::object to_torch(const Tensor& x);

}  // namespace crisol::python

namespace crisol::python::dlpack {

/// `extension` is the device of torch_crisol in PyTorch.
enum DeviceType : std::int32_t { cpu = 1, opencl = 4, extension = 12 };

struct Device {
  std::int32_t type, id;
};

struct Type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Array {
  void* data;  ///< For OpenCL a cl_mem.
  Device device;
  std::int32_t rank;
  Type type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< In elements; null if the elements lie one after another.
  std::uint64_t byte_offset;
};

/// An array. Its owner is told when nobody uses it any more.
struct Managed {
  Array array;
  void* context;
  void (*deleter)(Managed* self);
};

/// The same with a version: since DLPack 1.0.
struct Versioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(Versioned* self);
  std::uint64_t flags;
  Array array;
};

/// Bits of `flags`.
constexpr std::uint64_t is_read_only = 1, is_copied = 2;

/// The type of the elements of a tensor.
inline Type type_of(DType dtype) { return {dtype_row(dtype).dlpack, static_cast<std::uint8_t>(8 * size_of(dtype)), 1}; }

/// Raises BufferError.
[[noreturn]] inline void refuse(const std::string& text) { throw nb::buffer_error(("[dlpack] " + text).c_str()); }

}  // namespace crisol::python::dlpack
