// What the optimiser steps share: checks, program and geometry.
#pragma once

#include <initializer_list>

#include "base/text.h"
#include "crisol/ops/optimizer.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

inline constexpr std::int64_t hyper_size = 4;  ///< Elements of hyper, and of progress.

/// A tensor that a step reads or writes, for the checks.
struct StepTensor {
  const char* name;
  const Tensor& tensor;
};

/// f32, contiguous, on the device of `first` and as large.
void check_flat(const char* op, const StepTensor& first, std::initializer_list<StepTensor> others);
/// f32, 4 elements, on `device`.
void check_control(const char* op, const StepTensor& control, Device device);
/// In [0, 1).
void check_rate(const char* op, const char* name, double value);
/// Finite and not negative.
void check_amount(const char* op, const char* name, double value);

runtime::KernelSpec step_kernel(const runtime::DeviceState& device, const char* source, const char* entry);
runtime::NdRange step_range(const runtime::DeviceState& device, std::int64_t count);

}  // namespace crisol::ops
