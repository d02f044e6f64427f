#include "ops/reduce_launch.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "ops/argument_list.h"
#include "ops/persistent.h"
#include "ops/reduce_axes.h"
#include "ops/variant.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct Problem {
  const Reduction& reduction;
  const ReduceSource& source;
  const ReduceLoop& loop;
  const ReduceResult& result;
  runtime::DeviceState& device;
  float parameter;

  std::int64_t width() const { return loop.kept.back(); }  ///< Outputs side by side.
  ProblemKey key() const {
    return {{"kind", static_cast<std::int64_t>(reduction.combine)},
            {"dtype", static_cast<std::int64_t>(source.type)},
            {"outputs", loop.outputs},
            {"elements", loop.elements},
            {"width", width()},
            {"across", source.across},
            {"along", source.along},
            {"fused", !source.prelude.empty()}};
  }
};

bool finds_positions(const Reduction& reduction) { return reduction.combine >= Combine::arg_max; }

// ---- Types ----

/// The type that is computed in.
DType accumulator(const Reduction& reduction, DType type) {
  if (is_floating(type)) return DType::f32;
  if (type == DType::i64 || reduction.types == ReduceTypes::total) return DType::i64;
  return DType::i32;
}

DType result_type(const Reduction& reduction, DType type) {
  if (reduction.types == ReduceTypes::truth) return DType::boolean;
  return reduction.types == ReduceTypes::total && !is_floating(type) ? DType::i64 : type;
}

const char* opencl_name(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::f16: return "half";
    case DType::i32: return "int";
    case DType::i64: return "long";
    case DType::u8: return "uchar";
    case DType::boolean: return "boolean";
  }
  return "float";
}

int components(Combine combine) { return combine == Combine::moments ? 3 : combine == Combine::log_sum_exp ? 2 : 1; }

// ---- Geometry ----

int group_size(const runtime::DeviceState& device) {
  return static_cast<int>(std::min<std::uint64_t>(128, runtime::info_of(device).max_work_group));
}

/// Vectors of a strip: their states are to stay in the first cache; llvmpipe keeps loops short.
int strip_vectors(const runtime::DeviceState& device) {
  return loop_budget(runtime::info_of(device)) < 1 << 20 ? 4 : 64;
}

struct Cut {
  const char *source, *entry, *join;
  std::int64_t items, local;
  std::int64_t parts;
  std::int64_t a, b;  ///< SPLIT_A and SPLIT_B of the kernel.
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Work-items that the work is worth on a CPU: waking a thread for less costs more than it saves.
std::int64_t cpu_items(const Problem& problem) {
  const double work = static_cast<double>(problem.loop.outputs) * static_cast<double>(problem.loop.elements);
  const double least = problem.reduction.combine == Combine::log_sum_exp ? 1 << 14 : 1 << 18;
  if (work < 2 * least) return 1;
  // PoCL hands out a device's share of the remaining groups at a time: of few, one thread would get most.
  const std::int64_t most = std::int64_t{16} * runtime::info_of(problem.device).compute_units;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(4 * work / least, 1e9)), 1, most);
}

/// Parts so that items * parts is what the work is worth, each of `least` elements at least, and no work-item takes
/// more than the loop budget allows. Elements of a part are numbered with 32 bits.
std::int64_t cpu_parts(const Problem& problem, std::int64_t items, std::int64_t least, double rounds_of_item) {
  const std::int64_t elements = problem.loop.elements;
  const std::int64_t wanted = std::min(ceil_div(cpu_items(problem), items), elements / least);
  const double budget = static_cast<double>(loop_budget(runtime::info_of(problem.device)) / 2);
  const auto needed = static_cast<std::int64_t>(std::ceil(rounds_of_item / budget));
  return std::max({std::int64_t{1}, wanted, std::min(needed, elements), ceil_div(elements, std::int64_t{1} << 30)});
}

Cut cut_rows(const Problem& problem) {
  const std::int64_t outputs = problem.loop.outputs, elements = std::max<std::int64_t>(problem.loop.elements, 1);
  const std::int64_t lanes = cpu_vector_width(problem.device);
  const std::int64_t budget = loop_budget(runtime::info_of(problem.device)) / 2;
  std::int64_t chunk = ceil_div(outputs, cpu_items(problem));
  if (chunk > lanes) chunk = ceil_div(chunk, lanes) * lanes;
  const std::int64_t rounds_of_row = elements + 128;
  chunk = std::min(chunk, std::max<std::int64_t>(1, budget / rounds_of_row));
  const std::int64_t items = ceil_div(outputs, chunk);
  const double rounds = static_cast<double>(chunk) * static_cast<double>(rounds_of_row);
  return {"reduce_rows.cl", "rows", "join", items, 1, cpu_parts(problem, items, 8192, rounds), chunk, 0};
}

Cut cut_columns(const Problem& problem) {
  const std::int64_t lanes = cpu_vector_width(problem.device), width = problem.width();
  const std::int64_t outer = problem.loop.outputs / width, elements = std::max<std::int64_t>(problem.loop.elements, 1);
  const std::int64_t wanted = cpu_items(problem);
  std::int64_t strip = std::min<std::int64_t>(strip_vectors(problem.device), ceil_div(width, lanes)) * lanes;
  // Narrower strips where there are too few rows to cut them.
  while (outer * ceil_div(width, strip) < wanted && elements < 64 * wanted && strip > 4 * lanes)
    strip = ceil_div(strip / 2, lanes) * lanes;
  const std::int64_t units = outer * ceil_div(width, strip);
  const std::int64_t budget = loop_budget(runtime::info_of(problem.device)) / 2;
  const std::int64_t rounds_of_unit = 64 + elements * (strip / lanes + lanes + 16);
  const std::int64_t items =
      std::max(std::min(units, wanted), ceil_div(units, std::max<std::int64_t>(1, budget / rounds_of_unit)));
  const double rounds = static_cast<double>(ceil_div(units, items)) * static_cast<double>(rounds_of_unit);
  return {"reduce_columns.cl", "columns", "join", items, 1, cpu_parts(problem, items, 16, rounds), units, strip};
}

std::int64_t gpu_parts(std::int64_t pieces, std::int64_t wanted, std::int64_t elements, std::int64_t least) {
  return std::clamp<std::int64_t>(std::min(ceil_div(wanted, pieces), elements / least), 1, 1024);
}

Cut cut_items(const Problem& problem) {
  const runtime::NdRange range = runtime::flat_range(problem.device, problem.loop.outputs);
  const auto items = static_cast<std::int64_t>(range.global[0]), local = static_cast<std::int64_t>(range.local[0]);
  const std::int64_t parts = gpu_parts(items, 1 << 15, problem.loop.elements, 64);
  return {"reduce_groups.cl", "items", "join_groups", items, local, parts, 0, 0};
}

Cut cut_groups(const Problem& problem) {
  const std::int64_t local = group_size(problem.device), outputs = problem.loop.outputs;
  const std::int64_t wanted = std::int64_t{8} * runtime::info_of(problem.device).compute_units;
  const std::int64_t parts = gpu_parts(outputs, wanted, problem.loop.elements, 32 * local);
  return {"reduce_groups.cl", "groups", "join_groups", outputs * local, local, parts, 0, 0};
}

// ---- Launch ----

runtime::KernelSpec spec_of(const Problem& problem, const Cut& cut, const char* entry) {
  const DType type = problem.source.type, computed = accumulator(problem.reduction, type);
  runtime::KernelSpec spec{cut.source, entry, {}, problem.source.prelude};
  runtime::Defines& defines = spec.defines;
  defines.add({"KIND", static_cast<int>(problem.reduction.combine)});
  defines.add({"TYPE", opencl_name(type)});
  defines.add({"S", opencl_name(computed)});
  defines.add({"OUT", opencl_name(result_type(problem.reduction, type))});
  if (!is_floating(computed)) defines.add({"INTEGER", 1});
  if (computed == DType::i64) defines.add({"WIDE", 1});
  if (type == computed) defines.add({"TYPE_IS_S", 1});
  if (result_type(problem.reduction, type) == computed) defines.add({"OUT_IS_S", 1});
  defines.add({"MAP", problem.reduction.map});
  defines.add({"FINISH", problem.reduction.finish});
  defines.add({"VW", cpu_vector_width(problem.device)});
  if (cut.local > 1)
    defines.add({"LOCAL", group_size(problem.device)});
  else
    defines.add({"STRIP", strip_vectors(problem.device)});
  return spec;
}

/// The kernels' `sizes`.
Shape sizes_of(const Problem& problem, std::int64_t split_a, std::int64_t split_b) {
  const ReduceLoop& loop = problem.loop;
  return {loop.kept.rank(),
          loop.reduced.rank(),
          loop.outputs,
          loop.elements,
          split_a,
          split_b,
          problem.source.end,
          std::bit_cast<std::int32_t>(problem.parameter)};
}

void enqueue_join(const Problem& problem, const Cut& cut, runtime::Kernel& kernel, const Tensor& states,
                  const Tensor& part_positions) {
  const std::int64_t outputs = problem.loop.outputs;
  const std::int64_t budget = loop_budget(runtime::info_of(problem.device)) / 2;
  const std::int64_t chunk = std::max<std::int64_t>(1, std::min<std::int64_t>(32768, budget) / cut.parts);
  const runtime::NdRange range =
      cut.local > 1 ? runtime::NdRange{{outputs * group_size(problem.device)}, {group_size(problem.device)}}
                    : runtime::NdRange{{ceil_div(outputs, chunk)}, {1}};
  const Shape sizes = sizes_of(problem, chunk, cut.parts);
  const ReduceResult& result = problem.result;
  if (part_positions.defined())
    runtime::launch(problem.device, kernel, range, in(states), in(part_positions), out(result.values),
                    out(result.positions), sizes);
  else
    runtime::launch(problem.device, kernel, range, in(states), out(result.values), sizes);
}

void run(const Problem& problem, const Cut& cut) {
  const ReduceLoop& loop = problem.loop;
  const bool in_parts = cut.parts > 1;
  runtime::DeviceState& device = problem.device;
  runtime::Kernel& kernel = runtime::resolve(device, spec_of(problem, cut, cut.entry));
  runtime::Kernel& join = in_parts ? runtime::resolve(device, spec_of(problem, cut, cut.join)) : kernel;
  Tensor states = problem.result.values, positions = problem.result.positions;
  if (in_parts) {
    const DType computed = accumulator(problem.reduction, problem.source.type);
    states = empty({components(problem.reduction.combine), cut.parts, loop.outputs}, computed, states.device());
    if (positions.defined()) positions = empty({cut.parts, loop.outputs}, DType::i64, states.device());
  }
  ArgumentList<32> arguments;
  for (const runtime::KernelArg& argument : problem.source.arguments) arguments.add(argument);
  for (const Shape& shape :
       {innermost_first(loop.kept), innermost_first(loop.reduced), sizes_of(problem, cut.a, cut.b)})
    arguments.add(shape);
  arguments.add(out(states));
  if (positions.defined()) arguments.add(out(positions));
  runtime::enqueue(device, kernel, {{cut.items, cut.parts}, {cut.local, 1}}, arguments.data(), arguments.count());
  if (in_parts) enqueue_join(problem, cut, join, states, positions);
}

const char* refuse_columns(const Problem& problem, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "long chunks for few work-items are for CPUs";
  if (!problem.source.across || problem.width() < 2) return "neighbouring outputs are not contiguous";
  return problem.source.along && problem.loop.elements > 1 ? "the reduced elements are contiguous" : nullptr;
}

const char* refuse_rows(const Problem&, const DeviceInfo& info) {
  return info.type == DeviceType::cpu ? nullptr : "long chunks for few work-items are for CPUs";
}

const char* refuse_items(const Problem& problem, const DeviceInfo&) {
  return problem.source.across || problem.loop.elements < 32 ? nullptr : "neighbouring outputs are not contiguous";
}

template <Cut (*cut)(const Problem&)>
void run_cut(const Problem& problem) {
  run(problem, cut(problem));
}

constexpr Variant<Problem> variants[] = {{"columns", refuse_columns, run_cut<cut_columns>},
                                         {"rows", refuse_rows, run_cut<cut_rows>},
                                         {"items", refuse_items, run_cut<cut_items>},
                                         {"groups", accept_all, run_cut<cut_groups>}};

/// The element after the last one of a tensor, counted from its first.
std::int64_t extent_of(const Tensor& x) {
  std::int64_t last = 0;
  for (int i = 0; i < x.dim(); ++i) last += (x.shape()[i] - 1) * x.strides()[i];
  return last + 1;
}

}  // namespace

Shape innermost_first(const Shape& axes) {
  Shape turned;
  for (int i = axes.rank() - 1; i >= 0; --i) turned.push_back(axes[i]);
  return turned;
}

void check_reduce_type(const Reduction& reduction, DType type) {
  require(reduction.types != ReduceTypes::floating || is_floating(type), reduction.op, "the tensor is ", type,
          ", must be f32 or f16; convert it with to(dtype)");
}

ReduceResult run_reduction(const Reduction& reduction, const ReduceSource& source, const ReduceLoop& loop,
                           const Shape& shape, Device device, float parameter) {
  check_reduce_type(reduction, source.type);
  ReduceResult result{empty(shape, result_type(reduction, source.type), device), {}};
  if (finds_positions(reduction)) result.positions = empty(shape, DType::i64, device);
  if (loop.outputs == 0) return result;
  const Problem problem{reduction, source, loop, result, state_of(result.values), parameter};
  choose("reduce", variants, problem, device.info()).run(problem);
  return result;
}

ReduceResult reduce(const Reduction& reduction, const Tensor& x, const Shape& axes, bool keepdim, double parameter) {
  const char* op = reduction.op;
  const ReduceAxes split = split_axes(op, x, axes, keepdim, finds_positions(reduction));
  check_reduce_type(reduction, x.dtype());
  require(!reduction.needs_elements || split.reduced > 0 || split.outputs == 0, op, "no elements to reduce in shape ",
          x.shape());
  const runtime::BufferView view = in(x);
  const runtime::KernelArg arguments[] = {view, innermost_first(split.kept_strides),
                                          innermost_first(split.reduced_strides)};
  const ReduceSource source{.prelude = {},
                            .arguments = arguments,
                            .type = x.dtype(),
                            .across = split.kept_strides.back() == 1,
                            .along = split.reduced_strides.back() == 1,
                            .end = static_cast<std::int64_t>(view.offset) + extent_of(x)};
  return run_reduction(reduction, source, {split.kept_shape, split.reduced_shape, split.outputs, split.reduced},
                       split.result, x.device(), static_cast<float>(parameter));
}

}  // namespace crisol::ops
