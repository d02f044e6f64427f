// Ops of several launches that change nothing if a kernel cannot be built: dispatch/rehearsal.h with tensors.
#pragma once

#include <initializer_list>
#include <span>

#include "dispatch/rehearsal.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Adds the properties of an operand on which kernels depend. The operand may be undefined.
inline void add_tensor(dispatch::CallKey& key, const Tensor& x) {
  constexpr std::int64_t alignment = 64;  // In elements. No kernel needs a larger alignment.
  key.add(x.defined() ? static_cast<std::int64_t>(x.dtype()) : -1);
  if (!x.defined()) return;
  key.add(x.dim());
  for (const std::int64_t size : x.shape()) key.add(size);
  for (const std::int64_t stride : x.strides()) key.add(stride);
  key.add(static_cast<std::int64_t>(in(x).offset) % alignment);
}

/// The key of an op's call. The first operand must be defined. `settings` are the numbers on which the kernels depend.
inline dispatch::CallKey call_key(const char* op, std::initializer_list<const Tensor*> operands,
                                  std::initializer_list<std::int64_t> settings = {}) {
  dispatch::CallKey key(op, state_of(**operands.begin()));
  for (const Tensor* const x : operands) add_tensor(key, *x);
  for (const std::int64_t number : settings) key.add(number);
  return key;
}
inline dispatch::CallKey call_key(const char* op, std::span<const Tensor> operands,
                                  std::initializer_list<std::int64_t> settings) {
  dispatch::CallKey key(op, state_of(operands.front()));
  for (const Tensor& x : operands) add_tensor(key, x);
  for (const std::int64_t number : settings) key.add(number);
  return key;
}

using dispatch::rehearsed;

}  // namespace crisol::ops
