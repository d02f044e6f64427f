#include "ops/optim/optimizer_launch.h"

#include "base/ceil_div.h"

#include <cmath>

#include "crisol/dtype_table.h"
#include "dispatch/work_split.h"
#include "ops/optim/wide_steps.h"
#include "ops/storage.h"
#include "runtime/memory/transfer.h"

namespace crisol::ops {

namespace {

// On a CPU, a work-item takes blocks of neighbouring vectors. On a GPU, neighbouring work-items take neighbouring
// vectors.
struct StepGeometry {
  int width, block;
};

StepGeometry step_geometry_of(const dispatch::Target& target) {
  if (target.takes_cpu_kernels()) return {target.cpu_vector_width(), 256};
  return {4, 1};
}

bool is_f32(DType dtype) noexcept { return dtype == DType::f32; }
bool is_f64(DType dtype) noexcept { return dtype == DType::f64; }

/// The type that `hyper` and `progress` should have, if one of them is x.
DType step_type(const Tensor& x) { return x.dtype() == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

void check_flat(const char* op, const StepTensor& first, std::initializer_list<StepTensor> others) {
  const bool wide = is_wide(first.tensor.dtype());
  const auto check = [&](const StepTensor& t) {
    const DType dtype = t.tensor.dtype();
    const TypesThat types{wide ? is_f64 : t.may_be_half ? computes_in_f32 : is_f32};
    require(types.hold(dtype) && t.tensor.is_contiguous(), op, t.name, " must be ", types, " and contiguous, not ",
            dtype, " of shape ", t.tensor.shape(), " with strides ", t.tensor.strides());
  };
  check(first);
  for (const StepTensor& other : others) {
    check(other);
    require(other.tensor.numel() == first.tensor.numel(), op, other.name, " have ", other.tensor.numel(), " elements, ",
            first.name, " have ", first.tensor.numel());
    require(other.tensor.device() == first.tensor.device(), op, other.name, " are on ", other.tensor.device(), ", ",
            first.name, " on ", first.tensor.device());
  }
}

void check_control(const char* op, const StepTensor& control, Device device, std::int64_t size, DType dtype) {
  require(control.tensor.dtype() == dtype && control.tensor.shape() == Shape{size} && control.tensor.is_contiguous(),
          op, control.name, " must be ", dtype, " of shape (", size, "), not ", control.tensor.dtype(), " of shape ",
          control.tensor.shape());
  require(control.tensor.device() == device, op, control.name, " is on ", control.tensor.device(),
          ", the parameters are on ", device);
}

void check_rate(const char* op, const char* name, double value) {
  require(value >= 0 && value < 1, op, name, " is ", value, ", it must be at least 0 and below 1");
}

void check_amount(const char* op, const char* name, double value) {
  require(value >= 0 && std::isfinite(value), op, name, " is ", value, ", it must be finite and not negative");
}

runtime::KernelSpec step_kernel(runtime::DeviceState& device, const char* source, const char* entry,
                                const Tensor& gradients) {
  const StepGeometry geometry = step_geometry_of(dispatch::target_of(device));
  runtime::Defines defines{{"VW", geometry.width}, {"BLOCK", geometry.block}};
  if (gradients.defined()) define_elements(defines, storage_of(gradients));
  return {source, entry, defines};
}

runtime::KernelSpec momentum_kernel(runtime::DeviceState& device, const char* entry, const Tensor& gradients,
                                    const Tensor& momenta) {
  runtime::KernelSpec kernel = step_kernel(device, "optim/optimizer_sgd.cl", entry, gradients);
  if (!is_f32(momenta.dtype())) kernel.defines.add({"STORED_MOMENTA", 1});
  return kernel;
}

runtime::NdRange step_range(runtime::DeviceState& device, std::int64_t count) {
  const dispatch::Target target = dispatch::target_of(device);
  const StepGeometry geometry = step_geometry_of(target);
  const std::int64_t span = std::int64_t{geometry.width} * geometry.block;
  const std::int64_t blocks = ceil_div(count, span);
  // The last vector is processed lane by lane, which takes further iterations.
  if (geometry.block > 1) return persistent_range(target, blocks, geometry.block + 8 * geometry.width);
  const std::int64_t most = std::int64_t{2048} * target.info.compute_units;
  return target.flat_range(std::min(blocks, most));
}

Tensor make_hyper(Device device) { return make_hyper(device, DType::f32); }
Tensor make_hyper(Device device, DType dtype) { return empty({hyper_size}, dtype, device); }
Tensor make_progress(Device device) { return make_progress(device, DType::f32); }
Tensor make_progress(Device device, DType dtype) { return zeros({progress_size}, dtype, device); }

void write_hyper(const Tensor& hyper, double lr, double momentum) {
  check_control("write_hyper", {"hyper", hyper}, hyper.device(), hyper_size, step_type(hyper));
  check_amount("write_hyper", "the learning rate", lr);
  check_rate("write_hyper", "the momentum (beta1)", momentum);
  // Computed in double, because in float 1 - beta and its logarithm would lose digits.
  const double values[hyper_size] = {lr, momentum, 1 - momentum, std::log(momentum), 0};
  unsigned char bytes[sizeof values];
  std::size_t count = 0;
  for (const double value : values) count += detail::encode(value, hyper.dtype(), bytes + count);
  const runtime::BufferView view = out(hyper);
  runtime::write(*hyper.impl()->storage->block, view.offset * size_of(hyper.dtype()), bytes, count);
}

void advance_step(const Tensor& progress, const Tensor& hyper, double beta2) {
  const DType dtype = step_type(progress);
  check_control("advance_step", {"progress", progress}, progress.device(), progress_size, dtype);
  check_control("advance_step", {"hyper", hyper}, progress.device(), hyper_size, dtype);
  check_rate("advance_step", "beta2", beta2);
  if (is_wide(dtype)) return wide_advance_step(progress, hyper, beta2);
  runtime::DeviceState& device = state_of(progress);
  runtime::launch(
      device,
      step_kernel(device, beta2 > 0 ? "optim/optimizer_adam.cl" : "optim/optimizer_sgd.cl", "optimizer_advance"),
      {{1}, {1}}, in(hyper), out(progress), static_cast<float>(std::log(beta2)));
}

}  // namespace crisol::ops
