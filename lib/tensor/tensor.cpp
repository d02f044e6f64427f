// Properties of a tensor, and copies to and from the host.
#include "crisol/tensor.h"

#include <cmath>
#include <cstring>

#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/dtype_table.h"
#include "runtime/capture/capture.h"
#include "runtime/memory/transfer.h"
#include "tensor/captured_uses.h"
#include "tensor/grad_mode.h"
#include "tensor/impl.h"
#include "tensor/trace.h"

namespace crisol {

namespace {

std::uint64_t byte_position(const TensorImpl& impl) {
  return impl.storage->base + static_cast<std::uint64_t>(impl.offset) * size_of(impl.dtype);
}

// Copies strided elements one after another.
void copy_strided(const std::byte* from, const Shape& shape, const Shape& strides, int axis, std::size_t size,
                  std::byte*& to) {
  if (axis == shape.rank()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    copy_strided(from + i * strides[axis] * static_cast<std::int64_t>(size), shape, strides, axis + 1, size, to);
}

double element_as_double(DType dtype, const void* bytes) {
  return with_host_type(dtype, [&](auto element) {
    std::memcpy(&element, bytes, sizeof element);
    return as_double(element);
  });
}

}  // namespace

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

namespace {

std::shared_ptr<TensorImpl> same_storage(const TensorImpl& base, const Shape& shape, const Shape& strides,
                                         std::int64_t offset) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = base.storage;
  impl->offset = offset;
  impl->shape = shape;
  impl->strides = strides;
  impl->dtype = base.dtype;
  return impl;
}

const std::shared_ptr<TensorImpl>& recorded_whole(const std::shared_ptr<TensorImpl>& impl) {
  const bool follows = impl->view_of != nullptr && impl->view_of->storage == impl->storage;
  return follows ? impl->view_of : impl;
}

}  // namespace

Tensor make_view(const Tensor& base, const Shape& shape, const Shape& strides, std::int64_t offset) {
  std::shared_ptr<TensorImpl> impl = same_storage(*base.impl(), shape, strides, offset);
  if (thread_context().grad.enabled) {
    impl->view_of = recorded_whole(base.impl());
    impl->recorded_writes = impl->view_of->recorded_writes;
  } else {
    impl->unrecorded_view_of = whole_of(base).impl();
  }
  return Tensor(std::move(impl));
}

Tensor make_alias(const Tensor& x) { return Tensor(same_storage(*x.impl(), x.shape(), x.strides(), x.offset())); }

Tensor whole_of(const Tensor& x) {
  const std::shared_ptr<TensorImpl>& whole = recorded_whole(x.impl());
  std::shared_ptr<TensorImpl> unrecorded = whole->unrecorded_view_of.lock();
  const bool follows = unrecorded != nullptr && unrecorded->storage == whole->storage;
  return follows ? Tensor(std::move(unrecorded)) : Tensor(whole);
}

Tensor make_slice_of_arena(const Tensor& arena, std::int64_t first, const Shape& shape) {
  const TensorImpl& whole = *arena.impl();
  const std::uint64_t size = size_of(whole.dtype);
  auto impl = std::make_shared<TensorImpl>();
  impl->storage =
      std::make_shared<Storage>(whole.storage->block, byte_position(whole) + static_cast<std::uint64_t>(first) * size,
                                static_cast<std::uint64_t>(shape.numel()) * size);
  impl->storage->is_known_outside = true;
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = whole.dtype;
  return Tensor(std::move(impl));
}

namespace {

// Copies x, which must be contiguous and fill its storage.
void copy_elements(const Tensor& x, const Tensor& place) {
  const Storage& from = *x.impl()->storage;
  if (from.bytes > 0)
    runtime::copy(*from.block, from.base, *place.impl()->storage->block, byte_position(*place.impl()), from.bytes);
}

}  // namespace

bool can_move_elements(const Tensor& x) {
  const Storage& storage = *x.impl()->storage;
  return x.is_contiguous() && x.offset() == 0 &&
         storage.bytes == static_cast<std::uint64_t>(x.numel()) * size_of(x.dtype()) && storage.can_move();
}

void move_elements(const Tensor& x, const Tensor& place) {
  copy_elements(x, place);
  x.impl()->storage->move_to(place.impl()->storage->block, byte_position(*place.impl()));
}

Tensor take_place(const Tensor& x) {
  if (x.impl().use_count() == 1 && x.impl()->storage.use_count() == 1) return x;
  Storage& kept = *x.impl()->storage;
  Tensor place = make_alias(x);
  place.impl()->storage = std::make_shared<Storage>(kept.block, kept.base, kept.bytes);
  // A replay must not change elements that were kept, unless it computes them.
  const CapturedUses* const uses = thread_context().submission.uses;
  const runtime::PauseCapture pause(uses != nullptr && !uses->computes(kept));
  move_elements(x, empty(x.shape(), x.dtype(), x.device()));
  return place;
}

void replace_storage(const Tensor& tensor, const Tensor& value) {
  TensorImpl& impl = *tensor.impl();
  impl.storage = value.impl()->storage;
  impl.offset = value.offset();
  impl.strides = value.strides();
}

int normalized_axis(const char* op, std::int64_t axis, int rank) {
  require_in_range(axis >= -rank && axis < rank, op, "axis ", axis, " is out of range for rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

namespace {

// get() is exported, so compilers do not inline it.
TensorImpl& impl_of(const Tensor& x) {
  require(x.defined(), "tensor", "the tensor is undefined");
  return *x.impl();
}

}  // namespace

TensorImpl& Tensor::get() const { return impl_of(*this); }

const Shape& Tensor::shape() const { return impl_of(*this).shape; }
const Shape& Tensor::strides() const { return impl_of(*this).strides; }
DType Tensor::dtype() const { return impl_of(*this).dtype; }
Device Tensor::device() const { return Device(impl_of(*this).storage->block->device()); }
std::int64_t Tensor::offset() const { return impl_of(*this).offset; }
std::int64_t Tensor::size(int axis) const { return shape()[normalized_axis("size", axis, dim())]; }

bool Tensor::shares_storage_with(const Tensor& other) const {
  return get().storage->block == other.get().storage->block;
}

bool Tensor::is_contiguous() const {
  const TensorImpl& impl = impl_of(*this);
  std::int64_t step = 1;
  for (int i = impl.shape.rank() - 1; i >= 0; --i) {
    // The stride of an axis of size 1 does not matter, because it is never used.
    if (impl.shape[i] != 1 && impl.strides[i] != step) return impl.shape.numel() == 0;
    step *= impl.shape[i];
  }
  return true;
}

void Tensor::check_host_type(DType wanted) const {
  const bool fits = wanted == dtype() || (wanted == DType::u8 && kind_of(dtype()) == DTypeKind::boolean);
  require(fits, "tensor", "the tensor holds ", dtype(), ", the host type is ", wanted);
}

void Tensor::read_bytes(void* bytes) const {
  const TensorImpl& impl = get();
  const std::size_t size = size_of(impl.dtype);
  if (Trace* trace = current_trace()) trace->read(*this);
  if (impl.shape.numel() == 0) return;
  if (is_contiguous()) {
    runtime::read(*impl.storage->block, byte_position(impl), bytes, static_cast<std::size_t>(numel()) * size);
    return;
  }
  std::int64_t last = 0;  // Strides are never negative, so the first element is the lowest.
  for (int i = 0; i < impl.shape.rank(); ++i) last += (impl.shape[i] - 1) * impl.strides[i];
  std::vector<std::byte> span(static_cast<std::size_t>(last + 1) * size);
  runtime::read(*impl.storage->block, byte_position(impl), span.data(), span.size());
  std::byte* to = static_cast<std::byte*>(bytes);
  copy_strided(span.data(), impl.shape, impl.strides, 0, size, to);
}

void Tensor::write_elements(const void* values, std::int64_t count) {
  require(count == numel(), "copy_from", count, " values for a tensor of shape ", shape(), " with ", numel(),
          " elements");
  if (!is_contiguous() || (grad_enabled() && requires_grad())) {
    copy_from(from_bytes(values, shape(), dtype(), device()));
    return;
  }
  require_in_place_allowed("copy_from", *this);
  TensorImpl& impl = get();
  impl.storage->written();
  runtime::write(*impl.storage->block, byte_position(impl), values,
                 static_cast<std::size_t>(count) * size_of(impl.dtype));
}

double Tensor::item_as_double() const {
  require(numel() == 1, "item", "the tensor has ", numel(), " elements, not 1; shape ", shape());
  std::byte bytes[8];
  read_bytes(bytes);
  return element_as_double(dtype(), bytes);
}

std::int64_t Tensor::item_as_int() const {
  if (!is_whole(dtype()) || size_of(dtype()) < sizeof(std::int64_t)) return static_cast<std::int64_t>(item_as_double());
  require(numel() == 1, "item", "the tensor has ", numel(), " elements, not 1; shape ", shape());
  std::int64_t value = 0;
  read_bytes(&value);
  return value;
}

}  // namespace crisol
