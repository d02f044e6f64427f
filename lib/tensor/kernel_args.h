// Tensors as kernel arguments. An op reads
//
//     launch(state_of(x), spec, range, in(x), out(y), y.numel());
#pragma once

#include "dispatch/plan.h"
#include "runtime/dry_run.h"
#include "runtime/launch.h"
#include "tensor/impl.h"

namespace crisol {

inline runtime::DeviceState& state_of(const Tensor& x) { return x.impl()->storage->block->device(); }

/// A tensor that the kernel only reads: its buffer and the position of its first element.
inline runtime::BufferView in(const Tensor& x) {
  const TensorImpl& impl = *x.impl();
  return {impl.storage->block.get(),
          impl.storage->base / size_of(impl.dtype) + static_cast<std::uint64_t>(impl.offset)};
}

/// A tensor that the kernel writes. The call raises the storage's version. A dry run writes nothing, so it does not
/// raise the version.
inline runtime::BufferView out(const Tensor& x) {
  if (!runtime::in_dry_run()) x.impl()->storage->written();
  return in(x);
}

/// A weight that the kernel only reads. Its owner may keep a packed copy (see dispatch/derived.h).
inline dispatch::OperandView in_with_copies(const Tensor& x) {
  Storage& storage = *x.impl()->storage;
  return {in(x), &storage, storage.version.load(std::memory_order_relaxed)};
}

/// A struct as an argument. It must live until the kernel is queued.
template <class Parameters>
runtime::KernelArg struct_arg(const Parameters& parameters) {
  return {&parameters, sizeof parameters};
}

}  // namespace crisol
