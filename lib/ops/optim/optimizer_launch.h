// The checks, program and geometry that all optimiser steps share.
#pragma once

#include <initializer_list>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/optimizer.h"
#include "optim/flags.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

inline constexpr std::int64_t hyper_size = 5, progress_size = 4;  ///< The numbers of elements.

/// A tensor that a step reads or writes, for the checks.
struct StepTensor {
  const char* name;
  const Tensor& tensor;
  bool may_be_half = false;
};

/// Momenta, which are f32 or have the type of the gradients.
inline StepTensor momenta_of(const Tensor& momenta, const Tensor& gradients) {
  return {"the momenta", momenta, momenta.dtype() == gradients.dtype()};
}

/// Whether steps of parameters of a type are made of other ops (ops/optim/wide_steps.h). Steps of f64 are.
constexpr bool is_wide(DType dtype) noexcept { return !computes_in_f32(dtype); }

/// Checks that the tensors are f32 or all of them f64, contiguous, on the device of `first` and as large as `first`.
/// Tensors that may be halves may have any type whose numbers f32 holds, if the parameters are f32.
void check_flat(const char* op, const StepTensor& first, std::initializer_list<StepTensor> others);
/// Checks that the tensor has a type, so many elements and is on `device`.
void check_control(const char* op, const StepTensor& control, Device device, std::int64_t size,
                   DType dtype = DType::f32);
/// Checks that the value is in [0, 1).
void check_rate(const char* op, const char* name, double value);
/// Checks that the value is finite and not negative.
void check_amount(const char* op, const char* name, double value);

/// `hyper` and `progress` for parameters of f32, or of f64.
Tensor make_hyper(Device device, DType dtype);
Tensor make_progress(Device device, DType dtype);

/// A kernel of a step. The gradients are undefined if the kernel has none.
runtime::KernelSpec step_kernel(runtime::DeviceState& device, const char* source, const char* entry,
                                const Tensor& gradients = {});
/// A kernel of optimizer_sgd.cl that has momenta.
runtime::KernelSpec momentum_kernel(runtime::DeviceState& device, const char* entry, const Tensor& gradients,
                                    const Tensor& momenta);
runtime::NdRange step_range(runtime::DeviceState& device, std::int64_t count);

}  // namespace crisol::ops
