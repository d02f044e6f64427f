// The ops that PyTorch needs for memory: making, resizing, viewing and copying tensors.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include <algorithm>

#include "call.h"
#include "crisol/dtype_table.h"
#include "device.h"
#include "memory.h"

namespace crisol_torch {

namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::ScalarType type_or_default(std::optional<at::ScalarType> type) {
  return type.value_or(c10::typeMetaToScalarType(at::get_default_dtype()));
}

at::DeviceGuard guard_of(std::optional<at::Device> device) {
  return at::DeviceGuard(torch_device(device && device->has_index() ? device->index() : current_device()));
}

void check_factory(std::optional<at::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided, "crisol: only strided tensors are on this device");
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

// Whether a new tensor has no other layout, and no size that only PyTorch knows how to refuse.
bool is_row_major(at::IntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  return sizes.size() <= static_cast<std::size_t>(crisol::Shape::max_rank) &&
         format.value_or(at::MemoryFormat::Contiguous) == at::MemoryFormat::Contiguous &&
         std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout> layout,
                 std::optional<at::Device> device, std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> format) {
  check_factory(layout, pin_memory);
  const at::DeviceGuard guard = guard_of(device);
  const at::ScalarType wanted = type_or_default(type);
  // Then an op that reads the tensor finds the library's tensor behind it as it is.
  if (const std::optional<crisol::DType> dtype = dtype_of(wanted); dtype && is_row_major(sizes, format))
    return guarded([&] { return wrap(crisol::empty(shape_of(sizes), *dtype, device_at(current_device()))); });
  return at::detail::empty_generic(sizes, device_allocator(), keys, wanted, format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  check_factory(layout, pin_memory);
  const at::DeviceGuard guard = guard_of(device);
  return at::detail::empty_strided_generic(sizes, strides, device_allocator(), keys, type_or_default(type));
}

// Zeros that PyTorch's forward-mode derivatives begin with. PyTorch's CPU keeps no elements of them.
at::Tensor zeros_of_derivatives(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                                std::optional<at::Layout> layout, std::optional<at::Device> device,
                                std::optional<bool> pin_memory) {
  return empty(sizes, type, layout, device, pin_memory, std::nullopt).zero_();
}

// Changes the layout of x, and lets its storage grow. x stays as it was if there is no memory.
template <class F>
void change_layout(const at::Tensor& x, F change) {
  c10::TensorImpl* const impl = x.unsafeGetTensorImpl();
  const std::vector<std::int64_t> sizes = x.sizes().vec(), strides = x.strides().vec();
  const std::int64_t offset = x.storage_offset();
  const c10::Storage before = x.storage();
  change(impl);
  const c10::Storage storage = x.storage();
  const std::size_t bytes =
      at::detail::computeStorageNbytes(x.sizes(), x.strides(), x.dtype().itemsize(), x.storage_offset());
  if (x.numel() == 0 || bytes <= storage.nbytes()) return;
  try {
    resize_storage(storage, bytes);
  } catch (...) {
    impl->set_storage_keep_dtype(before);
    impl->set_sizes_and_strides(sizes, strides, offset);
    throw;
  }
}

const at::Tensor& resize_(const at::Tensor& x, at::IntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  if (x.sizes() == sizes && !format) return x;
  change_layout(x, [&](c10::TensorImpl* impl) {
    impl->set_sizes_contiguous(sizes);
    if (format && *format != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  });
  return x;
}

at::Tensor& set_storage_at(at::Tensor& x, at::Storage source, std::int64_t offset, at::IntArrayRef sizes,
                           at::IntArrayRef strides) {
  TORCH_CHECK(source.device() == x.device(), "crisol: set_ wants a storage on ", x.device(), ", it is on ",
              source.device());
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  change_layout(x, [&](c10::TensorImpl* impl) {
    impl->set_storage_keep_dtype(std::move(source));
    impl->set_storage_offset(offset);
    if (strides.data() == nullptr || strides.size() != sizes.size())
      impl->set_sizes_contiguous(sizes);
    else
      impl->set_sizes_and_strides(sizes, strides);
  });
  return x;
}

at::Tensor& set_storage(at::Tensor& x, at::Storage source) {
  const auto elements = static_cast<std::int64_t>(source.nbytes() / x.dtype().itemsize());
  return set_storage_at(x, std::move(source), 0, {elements}, {});
}

at::Tensor& set_tensor(at::Tensor& x, const at::Tensor& source) {
  return x.is_same(source)
             ? x
             : set_storage_at(x, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_empty(at::Tensor& x) {
  const at::DeviceGuard guard(x.device());
  c10::Storage storage(c10::Storage::use_byte_size_t(), 0, device_allocator()->allocate(0), device_allocator(), true);
  return set_storage_at(x, std::move(storage), 0, {0}, {});
}

// ---- Copies

// The tensor with a dtype of the library of the same size, so that bytes move. A complex number of 16 bytes is two
// elements.
crisol::Tensor movable(const at::Tensor& x) {
  if (dtype_of(x.scalar_type())) return tensor_of(x);
  for (const crisol::DType dtype : crisol::all_dtypes)
    if (crisol::size_of(dtype) == x.itemsize() && dtype_of(scalar_type_of(dtype))) {
      const crisol::Tensor bytes = bytes_of(x.storage());
      return crisol::ops::reinterpret(bytes, dtype, shape_of(x.sizes()), shape_of(x.strides()),
                                      x.numel() == 0 ? 0 : x.storage_offset());
    }
  TORCH_CHECK(at::isComplexType(x.scalar_type()), "crisol: a tensor of ", x.scalar_type(), " cannot be copied");
  return tensor_of(at::view_as_real(x));
}

void copy_on_device(const at::Tensor& to, const at::Tensor& from) {
  const bool converts = to.scalar_type() != from.scalar_type();
  if (converts && !(dtype_of(to.scalar_type()) && dtype_of(from.scalar_type()))) {
    to.copy_(from.cpu());
    return;
  }
  const crisol::Tensor target = movable(to);
  crisol::Tensor source = movable(from);
  if (from.device() != to.device()) source = source.to(target.device());
  if (target.shares_storage_with(source)) source = crisol::ops::clone(source);
  crisol::ops::copy_into(target, source);
}

void copy_to_host(const at::Tensor& to, const at::Tensor& from) {
  const bool direct = to.scalar_type() == from.scalar_type() && to.is_contiguous();
  const at::Tensor host = direct ? to : at::empty(from.sizes(), from.options().device(at::kCPU));
  movable(from).read_bytes(host.mutable_data_ptr());
  if (!direct) to.copy_(host);
}

void copy_from_host(const at::Tensor& to, const at::Tensor& from) {
  const at::Tensor host = from.to(to.scalar_type()).contiguous();
  crisol::ops::write_bytes(movable(to), host.const_data_ptr());
}

// Writes x, or -x.
void copy_signed(const crisol::Tensor& to, const crisol::Tensor& x, bool negative) {
  namespace ops = crisol::ops;
  const crisol::Tensor source = negative ? ops::neg(x) : to.shares_storage_with(x) ? ops::clone(x) : x;
  ops::copy_into(to, ops::expand(source, to.shape()));
}

// The elements of a tensor with lazy bits. A clone on the device would come here, so what the library does not compute
// with is resolved on the CPU.
void copy_lazy(const at::Tensor& from, const at::Tensor& to) {
  at::Tensor plain = from.is_conj() ? from.conj() : from;
  if (plain.is_neg()) plain = plain._neg_view();
  const bool is_complex = at::isComplexType(to.scalar_type());
  const std::optional<crisol::DType> part = dtype_of(at::toRealValueType(to.scalar_type()));
  if (to.device() == from.device() && to.scalar_type() == from.scalar_type() && part &&
      crisol::computes_in_f32(*part)) {
    guarded([&] {
      if (!is_complex) return copy_signed(tensor_of(to), tensor_of(plain), true);
      const crisol::Tensor target = tensor_of(at::view_as_real(to)), source = tensor_of(at::view_as_real(plain));
      const auto copy_part = [&](int i, bool negative) {
        copy_signed(crisol::ops::select(target, -1, i), crisol::ops::select(source, -1, i), negative);
      };
      copy_part(0, from.is_neg());
      copy_part(1, from.is_neg() != from.is_conj());
    });
    return;
  }
  at::Tensor host = plain.cpu();
  if (from.is_conj()) host = host.conj();
  if (from.is_neg()) host = host._neg_view();
  to.copy_(host.resolve_conj().resolve_neg());
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (to.is_same(from) || to.numel() == 0) return to;
  if (to.is_neg()) return copy_from(from.neg(), to._neg_view(), non_blocking), to;
  if (to.is_conj()) return copy_from(from.conj(), to.conj(), non_blocking), to;
  if (!from.is_cpu() && (from.is_conj() || from.is_neg())) return copy_lazy(from, to), to;
  const at::Tensor source = from.resolve_conj().resolve_neg().expand(to.sizes());
  guarded([&] {
    if (to.is_cpu())
      copy_to_host(to, source);
    else if (from.is_cpu())
      copy_from_host(to, source);
    else
      copy_on_device(to, source);
  });
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  // The strides of a view stay, because a function in place writes through them.
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar local_scalar_dense(const at::Tensor& x) { return at::native::_local_scalar_dense_cpu(x.cpu()); }

void record_stream(at::Tensor&, at::Stream) {}  // A device has one queue.

// Whether `to.data = from` may be. nn.Module.to asks this: then a parameter moves between the CPU and the device in
// place, so weights that two modules share stay one tensor, and an optimiser keeps its parameters.
bool has_compatible_shallow_copy_type(const at::Tensor& to, const at::Tensor& from) {
  constexpr c10::DispatchKeySet backends({c10::BackendComponent::CPUBit, c10::BackendComponent::PrivateUse1Bit});
  const auto is_dense = [&](c10::DispatchKeySet set) {
    return set.has_any(c10::DispatchKeySet(c10::DispatchKey::Dense)) && set.has_any(backends);
  };
  return to.key_set() == from.key_set() || (is_dense(to.key_set()) && is_dense(from.key_set()));
}

}  // namespace

void resize_storage(const c10::Storage& storage, std::size_t bytes) {
  guarded([&] {
    const at::DeviceGuard guard(storage.device());
    at::DataPtr memory = device_allocator()->allocate(bytes);
    const std::size_t kept = std::min(bytes, storage.nbytes());
    if (kept > 0) device_allocator()->copy_data(memory.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(memory));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  });
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_efficientzerotensor", zeros_of_derivatives);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage_at);
  m.impl("set_.source_Storage", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_", set_empty);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
  m.impl("record_stream", record_stream);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
}

// Else a CPU tensor that wants a gradient would ask PyTorch's own function.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
}

// copy_from takes care of the lazy bits itself.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

}  // namespace crisol_torch
