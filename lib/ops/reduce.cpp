// sum, mean, max, min: one launch, or two where few outputs are made from many elements.
#include "crisol/ops/reduce.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/persistent.h"
#include "ops/reduce_axes.h"
#include "ops/variant.h"
#include "ops/work_split.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// Values of OP in cl_kernels/reduce.cl.
enum class Combine { sum = 0, max = 1, min = 2 };

struct Problem {
  Combine combine;
  const Tensor& x;
  const Tensor& y;
  const ReduceAxes& axes;
  float divisor;
};

void reduce_into(const Problem& problem);

int group_size(const runtime::DeviceState& device) {
  return static_cast<int>(std::min<std::uint64_t>(128, runtime::info_of(device).max_work_group));
}

runtime::KernelSpec spec_of(const Problem& problem, const runtime::DeviceState& device, std::string_view entry) {
  return {"reduce.cl",
          entry,
          {{"OP", static_cast<int>(problem.combine)}, {"VW", cpu_vector_width(device)}, {"LOCAL", group_size(device)}}};
}

// Launches one kernel over `parts` of the reduced elements; more than one need a second round over their results.
template <class... More>
void launch_parts(const Problem& problem, std::string_view entry, std::int64_t items, std::int64_t local,
                  std::int64_t parts, More... more) {
  runtime::DeviceState& device = state_of(problem.x);
  const ReduceAxes& axes = problem.axes;
  runtime::Kernel& kernel = runtime::resolve(device, spec_of(problem, device, entry));
  const Tensor partial = parts == 1 ? problem.y : empty({parts, axes.outputs}, DType::f32, problem.x.device());
  const auto rank = [](const Shape& shape) { return std::int32_t{shape.rank()}; };
  runtime::launch(device, kernel, {{items, parts}, {local, 1}}, in(problem.x), out(partial), axes.kept_shape,
                  axes.kept_strides, rank(axes.kept_shape), axes.reduced_shape, axes.reduced_strides,
                  rank(axes.reduced_shape), axes.outputs, axes.reduced, parts == 1 ? problem.divisor : 1.0f, more...);
  if (parts == 1) return;
  const ReduceAxes over_parts = split_axes("reduce", partial, {0}, false);
  reduce_into({problem.combine, partial, problem.y, over_parts, problem.divisor});
}

// Parts into which the reduced elements are cut so that `wanted` pieces of at least `least` elements are worked on.
std::int64_t parts_for(std::int64_t pieces, std::int64_t wanted, std::int64_t reduced, std::int64_t least) {
  return std::clamp<std::int64_t>(std::min((wanted + pieces - 1) / pieces, reduced / least), 1, 1024);
}

const char* refuse_columns(const Problem& problem, const DeviceInfo& info) {
  const ReduceAxes& axes = problem.axes;
  if (info.type != DeviceType::cpu) return "long chunks for few work-items are for CPUs";
  if (axes.kept_strides.back() != 1 || axes.kept_shape.back() < 4) return "neighbouring outputs are not contiguous";
  return axes.reduced_strides.back() == 1 && axes.reduced > 1 ? "the reduced elements are contiguous" : nullptr;
}

const char* refuse_rows(const Problem&, const DeviceInfo& info) {
  return info.type == DeviceType::cpu ? nullptr : "long chunks for few work-items are for CPUs";
}

const char* refuse_items(const Problem& problem, const DeviceInfo&) {
  const ReduceAxes& axes = problem.axes;
  return axes.kept_strides.back() == 1 || axes.reduced < 32 ? nullptr : "neighbouring outputs are not contiguous";
}

void run_on_cpu(const Problem& problem, std::string_view entry) {
  const runtime::DeviceState& device = state_of(problem.x);
  const ReduceAxes& axes = problem.axes;
  // Outputs of a work-item: as many as give it a few thousand elements.
  const std::int64_t least = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(axes.reduced, 1));
  const std::int64_t budget = loop_budget(runtime::info_of(device)) / 2;
  const WorkSplit split = split_for_cpu(device, axes.outputs, least, entry == "rows" ? 1 : 64,
                                        std::clamp<std::int64_t>(axes.reduced, 1, budget));
  const std::int64_t wanted = std::int64_t{4} * runtime::info_of(device).compute_units;
  const std::int64_t parts =
      parts_for(split.items, wanted, axes.reduced, std::max<std::int64_t>(8192 / axes.outputs, 256));
  // In floating point: the budget may be the largest integer, and then it asks for one part.
  const auto needed = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(split.chunk) * static_cast<double>(axes.reduced) / static_cast<double>(budget)));
  launch_parts(problem, entry, split.items, 1, std::max(parts, needed), split.chunk);
}

void run_rows(const Problem& problem) { run_on_cpu(problem, "rows"); }
void run_columns(const Problem& problem) { run_on_cpu(problem, "columns"); }

void run_items(const Problem& problem) {
  const runtime::DeviceState& device = state_of(problem.x);
  const runtime::NdRange range = runtime::flat_range(device, problem.axes.outputs);
  const auto items = static_cast<std::int64_t>(range.global[0]), local = static_cast<std::int64_t>(range.local[0]);
  launch_parts(problem, "items", items, local, parts_for(items, 1 << 15, problem.axes.reduced, 64));
}

void run_groups(const Problem& problem) {
  const runtime::DeviceState& device = state_of(problem.x);
  const std::int64_t local = group_size(device);
  const std::int64_t wanted = std::int64_t{8} * runtime::info_of(device).compute_units;
  launch_parts(problem, "groups", problem.axes.outputs * local, local,
               parts_for(problem.axes.outputs, wanted, problem.axes.reduced, 32 * local));
}

constexpr Variant<Problem> variants[] = {{"columns", refuse_columns, run_columns},
                                         {"rows", refuse_rows, run_rows},
                                         {"items", refuse_items, run_items},
                                         {"groups", accept_all, run_groups}};

void reduce_into(const Problem& problem) {
  if (problem.axes.outputs == 0) return;
  choose("reduce", variants, problem, problem.x.device().info()).run(problem);
}

Tensor reduce(const char* op, Combine combine, const Tensor& x, const Shape& axes, bool keepdim, bool divide) {
  const ReduceAxes split = split_axes(op, x, axes, keepdim);
  require(combine == Combine::sum || split.reduced > 0 || split.outputs == 0, op, "no elements to reduce in shape ",
          x.shape());
  const Tensor y = empty(split.result, DType::f32, x.device());
  reduce_into({combine, x, y, split, divide ? static_cast<float>(split.reduced) : 1.0f});
  return y;
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce("sum", Combine::sum, x, axes, keepdim, false);
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce("mean", Combine::sum, x, axes, keepdim, true);
}

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce("max", Combine::max, x, axes, keepdim, false);
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce("min", Combine::min, x, axes, keepdim, false);
}

}  // namespace crisol::ops
