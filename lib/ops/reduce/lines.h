// Kernels of cl_kernels/reduce/lines.h, which walk along an axis.
#pragma once

#include <algorithm>

#include "dispatch/work_split.h"
#include "ops/index/indexing.h"
#include "reduce/parameters.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// How the lines of a tensor are divided among work-items, and their positions among launches.
class Lines {
 public:
  /// The tensor has elements.
  Lines(const Tensor& x, int axis)
      : device_(state_of(x)), target_(dispatch::target_of(device_)), split_(split_at(x.shape(), axis)) {
    step_ = std::clamp<std::int64_t>(target_.loop_budget / 2, 1, split_.size);
    work_ = split_for(target_, count(), std::max<std::int64_t>(1, 8192 / step_), 1, step_);
  }

  std::int64_t count() const noexcept { return split_.outer * split_.inner; }

  /// Queues launches from the first positions to the last ones.
  template <class... Tensors>
  void forward(const runtime::KernelSpec& kernel, const Tensors&... tensors) const {
    for (std::int64_t first = 0; first < split_.size; first += step_) launch(kernel, first, tensors...);
  }

  /// Queues launches from the last positions to the first ones.
  template <class... Tensors>
  void backward(const runtime::KernelSpec& kernel, const Tensors&... tensors) const {
    for (std::int64_t first = (split_.size - 1) / step_ * step_; first >= 0; first -= step_)
      launch(kernel, first, tensors...);
  }

 private:
  template <class... Tensors>
  void launch(const runtime::KernelSpec& kernel, std::int64_t first, const Tensors&... tensors) const {
    const kernels::LineParameters sizes{
        .lines = count(), .n = split_.size, .inner = split_.inner, .chunk = work_.chunk};
    runtime::launch(device_, kernel, range_of(target_, work_.items), tensors..., struct_arg(sizes), first,
                    std::min(first + step_, split_.size));
  }

  runtime::DeviceState& device_;
  dispatch::Target target_;
  AxisSplit split_;
  std::int64_t step_;
  dispatch::WorkSplit work_;
};

}  // namespace crisol::ops
