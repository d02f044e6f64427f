// The norm of many tensors, and clipping by this norm, without a wait.
#include <algorithm>

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "dispatch/target.h"
#include "ops/optim/optimizer_launch.h"
#include "ops/optim/wide_steps.h"
#include "ops/probe/shuffle.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

struct NormGeometry {
  int width, group;
  std::int64_t enough_groups;

  std::int64_t groups(std::int64_t count) const {
    // A group should have at least `least` elements, to have enough work. It may have at most `most`: rounding errors
    // and llvmpipe's loop budget allow 8192 vectors for an item.
    const std::int64_t least = std::int64_t{64} * width * group;
    const std::int64_t most = std::int64_t{8192} * width * group;
    return std::max(std::min(enough_groups, (count + least - 1) / least), (count + most - 1) / most);
  }
};

NormGeometry geometry_of(const dispatch::Target& target) {
  if (target.takes_cpu_kernels()) return {target.cpu_vector_width(), 1, 64};
  return {4, 64, 1024};
}

runtime::KernelSpec kernel_of(const dispatch::Target& target, const NormGeometry& geometry, const char* entry,
                              const Tensor& x) {
  runtime::KernelSpec spec{"optim/global_norm.cl", entry, {{"VW", geometry.width}, {"GROUP", geometry.group}}};
  define_elements(spec.defines, storage_of(x));
  add_shuffle_define(spec.defines, target, geometry.group);
  return spec;
}

runtime::NdRange range_of(const NormGeometry& geometry, std::int64_t groups) {
  return {{groups * geometry.group}, {geometry.group}};
}

}  // namespace

Tensor global_norm(const std::vector<Tensor>& parts) {
  constexpr const char* op = "global_norm";
  require(!parts.empty(), op, "there are no tensors");
  if (std::any_of(parts.begin(), parts.end(), [](const Tensor& part) { return is_wide(part.dtype()); }))
    return wide_global_norm(parts);
  runtime::DeviceState& device = state_of(parts.front());
  const dispatch::Target target = dispatch::target_of(device);
  const NormGeometry geometry = geometry_of(target);
  std::int64_t partial_count = 0;
  for (const Tensor& part : parts) {
    check_flat(op, {"the tensors", part, true}, {});
    require(part.device() == parts.front().device(), op, "the tensors are on ", parts.front().device(), " and on ",
            part.device());
    partial_count += geometry.groups(part.numel());
  }
  std::vector<runtime::BuiltKernel*> sum_part;
  for (const Tensor& part : parts)
    sum_part.push_back(&runtime::resolve(device, kernel_of(target, geometry, "norm_partials", part)));
  const Tensor partials = empty({partial_count}, DType::f32, parts.front().device());
  const Tensor norm = empty({}, DType::f32, parts.front().device());
  runtime::BuiltKernel& sum_all = runtime::resolve(device, kernel_of(target, geometry, "norm_of_partials", partials));

  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i];
    const std::int64_t groups = geometry.groups(part.numel());
    runtime::launch(device, *sum_part[i], range_of(geometry, groups), in(part), out(partials), first, part.numel());
    first += groups;
  }
  runtime::launch(device, sum_all, range_of(geometry, 1), in(partials), out(norm), partial_count);
  return norm;
}

void scale_by_clip(const Tensor& x, const Tensor& norm, double max_norm) {
  constexpr const char* op = "scale_by_clip";
  check_flat(op, {"the tensors", x, true}, {});
  require(norm.numel() == 1, op, "the norm has shape ", norm.shape(), ", it must be one element");
  check_flat(op, {"the norm", norm}, {});
  require(norm.device() == x.device(), op, "the norm is on ", norm.device(), ", the tensor on ", x.device());
  check_amount(op, "max_norm", max_norm);
  if (is_wide(norm.dtype()) || is_wide(x.dtype())) {
    copy_into(x, mul(x, minimum(div(max_norm, add(norm, 1e-6)), 1.0)));
    return;
  }
  runtime::DeviceState& device = state_of(x);
  const dispatch::Target target = dispatch::target_of(device);
  const NormGeometry geometry = geometry_of(target);
  runtime::launch(device, kernel_of(target, geometry, "scale_to_norm", x),
                  range_of(geometry, geometry.groups(x.numel())), out(x), in(norm), x.numel(),
                  static_cast<float>(max_norm));
}

}  // namespace crisol::ops
