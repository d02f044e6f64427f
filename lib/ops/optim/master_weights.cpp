#include "ops/optim/master_weights.h"

#include "ops/optim/optimizer_launch.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

constexpr const char* master_source = "optim/master_weights.cl";

}  // namespace

Tensor join_master(const Tensor& values, const Tensor& remainders) {
  const Tensor master = empty(values.shape(), DType::f32, values.device());
  runtime::DeviceState& device = state_of(values);
  runtime::launch(device, step_kernel(device, master_source, "master_join", values), step_range(device, values.numel()),
                  in(values), in(remainders), out(master), values.numel());
  return master;
}

void split_master(const Tensor& master, const Tensor& values, const Tensor& remainders) {
  runtime::DeviceState& device = state_of(values);
  runtime::launch(device, step_kernel(device, master_source, "master_split", values),
                  step_range(device, values.numel()), in(master), out(values), out(remainders), values.numel());
}

}  // namespace crisol::ops
