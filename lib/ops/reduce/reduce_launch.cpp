#include "ops/reduce/reduce_launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/ceil_div.h"
#include "base/text.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/argument_list.h"
#include "ops/probe/swap.h"
#include "ops/reduce/reduce_axes.h"
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
            {"fused", source.prelude != nullptr}};
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

/// The largest power of two up to `wanted` that the device allows.
std::int64_t group_size(const runtime::DeviceState& device, std::uint64_t wanted) {
  while (wanted > runtime::info_of(device).max_work_group) wanted /= 2;
  return static_cast<std::int64_t>(wanted);
}

/// Vectors of a strip: their states are to stay in the first cache; llvmpipe keeps loops short.
int strip_vectors(const runtime::DeviceState& device) {
  return loop_budget(runtime::info_of(device)) < 1 << 20 ? 4 : 64;
}

/// FORM of reduce_groups.cl: what is read at once.
enum class Form : std::uint8_t { scalars, along, across };

struct Cut {
  const char *source, *entry, *join;
  std::int64_t items;  ///< Work-items but for the groups' dimension of rows.
  std::int64_t parts;
  std::int64_t a = 0, b = 0;        ///< SPLIT_A and SPLIT_B of the kernel.
  std::int64_t local = 1;           ///< Work-items of a group,
  std::int64_t span = 0, rows = 0;  ///< or its dimensions, SPAN and ROWS of reduce_groups.cl.
  Form form = Form::scalars;

  bool on_gpu() const { return span > 0; }
};

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
  const double budget = static_cast<double>(loop_budget(runtime::info_of(problem.device))) / 2;
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
  return {"reduce/reduce_rows.cl", "rows", "join", items, cpu_parts(problem, items, 8192, rounds), chunk};
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
  return {"reduce/reduce_columns.cl", "columns", "join", items, cpu_parts(problem, items, 16, rounds), units, strip};
}

/// Parts so that pieces * parts is `wanted`, each of `least` elements at least. Elements of a part are counted with 32
/// bits.
std::int64_t gpu_parts(const Problem& problem, std::int64_t pieces, std::int64_t wanted, std::int64_t least) {
  const std::int64_t elements = problem.loop.elements;
  const auto parts = std::clamp<std::int64_t>(std::min(ceil_div(wanted, pieces), elements / least), 1, 1024);
  return std::max(parts, ceil_div(elements, std::int64_t{1} << 30));
}

/// The join of many outputs leaves an item alone with each.
const char* gpu_join(const Problem& problem, std::int64_t parts) {
  return problem.loop.outputs >= 512 && parts <= 256 ? "join_items" : "join_groups";
}

constexpr std::int64_t most_items = 128;  ///< Of a group that works on one output.

Cut cut_items(const Problem& problem) {
  const Form form = problem.source.whole_across ? Form::across : Form::scalars;
  const std::int64_t outputs = problem.loop.outputs / (form == Form::across ? gpu_width : 1);
  const runtime::NdRange range = runtime::flat_range(problem.device, outputs);
  const auto items = static_cast<std::int64_t>(range.global[0]);
  const std::int64_t parts = gpu_parts(problem, items, 1 << 15, 64);
  Cut cut{"reduce/reduce_groups.cl", "items", gpu_join(problem, parts), items, parts};
  cut.local = static_cast<std::int64_t>(range.local[0]);
  cut.span = group_size(problem.device, most_items);
  cut.rows = 1;
  cut.form = form;
  return cut;
}

Cut cut_groups(const Problem& problem) {
  const ReduceLoop& loop = problem.loop;
  const bool whole = problem.source.whole_along && loop.elements >= gpu_width;
  const std::int64_t unit = whole ? gpu_width : 1;
  const std::int64_t group = group_size(problem.device, most_items);
  // Blocks of eight units to an item, or nearly: else four rows share a group.
  const std::int64_t span = loop.outputs >= 4 && loop.elements < 16 * unit * group ? ceil_div(group, 4) : group;
  const std::int64_t rows = group / span, blocks = ceil_div(loop.outputs, rows);
  const std::int64_t wanted = std::int64_t{8} * runtime::info_of(problem.device).compute_units;
  const std::int64_t parts = gpu_parts(problem, blocks, wanted, 8 * unit * group);
  Cut cut{"reduce/reduce_groups.cl", "groups", gpu_join(problem, parts), blocks * span, parts};
  cut.span = span;
  cut.rows = rows;
  cut.form = whole ? Form::along : Form::scalars;
  return cut;
}

// ---- Launch ----

runtime::KernelSpec spec_of(const Problem& problem, const Cut& cut, const char* entry) {
  const DType type = problem.source.type, computed = accumulator(problem.reduction, type);
  const int width = cut.on_gpu() ? gpu_width : cpu_vector_width(problem.device);
  runtime::KernelSpec spec{cut.source, entry, {}};
  if (problem.source.prelude) spec.prelude = problem.source.prelude(width);
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
  defines.add({"VW", width});
  if (!cut.on_gpu()) {
    defines.add({"STRIP", strip_vectors(problem.device)});
    return spec;
  }
  const Shape& reduced = problem.loop.reduced;
  defines.add({"SPAN", cut.span});
  defines.add({"ROWS", cut.rows});
  defines.add({"FORM", static_cast<int>(cut.form)});
  if (cut.form != Form::scalars) defines.add({"WHOLE_VECTORS", 1});
  defines.add({"RUNS", std::min(reduced.rank(), 3)});
  if (problem.loop.elements > std::numeric_limits<std::int32_t>::max() / 2) defines.add({"INDEX", "long"});
  // Moments and exponentials of vectors take more registers than Intel's work-items have in sub-groups of 16.
  if (const Combine c = problem.reduction.combine; c != Combine::moments && c != Combine::log_sum_exp)
    add_swap_define(defines, problem.device, cut.span);
  return spec;
}

runtime::NdRange range_of(const Cut& cut) {
  if (std::string_view(cut.entry) == "groups") return {{cut.items, cut.rows * cut.parts}, {cut.span, cut.rows}};
  return {{cut.items, cut.parts}, {cut.local, 1}};
}

runtime::NdRange range_of_join(const Problem& problem, const Cut& cut, std::int64_t chunk) {
  const std::int64_t outputs = problem.loop.outputs;
  if (!cut.on_gpu()) return {{ceil_div(outputs, chunk)}, {1}};
  if (std::string_view(cut.join) == "join_items") return runtime::flat_range(problem.device, outputs);
  return {{ceil_div(outputs, cut.rows) * cut.span, cut.rows}, {cut.span, cut.rows}};
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
  const std::int64_t budget = loop_budget(runtime::info_of(problem.device)) / 2;
  const std::int64_t chunk = std::max<std::int64_t>(1, std::min<std::int64_t>(32768, budget) / cut.parts);
  const runtime::NdRange range = range_of_join(problem, cut, chunk);
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
  runtime::enqueue(device, kernel, range_of(cut), arguments.data(), arguments.count());
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
  if (problem.loop.elements < 32) return nullptr;
  return problem.source.across && problem.width() >= 16 ? nullptr : "few neighbouring outputs are contiguous";
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

bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first) {
  const auto all_multiples = [&](const Shape& shape, const Shape& strides, int axes_of_it) {
    for (int i = 0; i < axes_of_it; ++i)
      if (shape[i] > 1 && strides[i] % gpu_width != 0) return false;
    return true;
  };
  const int last = axes.inner.rank() - 1;
  return first % gpu_width == 0 && (last == 0 || axes.inner[last] % gpu_width == 0) &&
         all_multiples(axes.inner, axes.inner_strides, last) &&
         all_multiples(axes.outer, axes.outer_strides, axes.outer.rank());
}

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
  const bool across = split.kept_strides.back() == 1, along = split.reduced_strides.back() == 1;
  const ReduceSource source{
      .prelude = {},
      .arguments = arguments,
      .type = x.dtype(),
      .across = across,
      .along = along,
      .end = static_cast<std::int64_t>(view.offset) + extent_of(x),
      .whole_across =
          across && split.kept_shape.back() % gpu_width == 0 &&
          in_whole_vectors({split.kept_shape, split.kept_strides, split.reduced_shape, split.reduced_strides},
                           view.offset),
      .whole_along =
          along && in_whole_vectors({split.reduced_shape, split.reduced_strides, split.kept_shape, split.kept_strides},
                                    view.offset)};
  return run_reduction(reduction, source, {split.kept_shape, split.reduced_shape, split.outputs, split.reduced},
                       split.result, x.device(), static_cast<float>(parameter));
}

}  // namespace crisol::ops
