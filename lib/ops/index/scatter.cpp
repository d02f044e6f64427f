// scatter_add, index_add and the other ops that scatter: cl_kernels/index/scatter.cl. GPUs also use
// cl_kernels/index/segment_sum.cl.
#include <algorithm>
#include <bit>

#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/sort/sort_rows.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// The OpenCL type of the results. Elements that only replace others are moved without a conversion.
const char* type_of_result(const ScatterProblem& p) {
  const auto dtype = static_cast<DType>(p.dtype);
  if (p.reduction == ScatterProblem::replaces) return type_of_element(dtype);
  return number_type(dtype);
}
std::uint64_t bytes_of_result(const ScatterProblem& p) { return size_of(static_cast<DType>(p.dtype)); }

// COMBINE of cl_kernels/index/combine.h.
const char* combine_of(const ScatterProblem& p) {
  switch (p.reduction) {
    case static_cast<std::int64_t>(ScatterReduction::sum): return "ADD";
    case static_cast<std::int64_t>(ScatterReduction::prod): return "MULTIPLY";
    case static_cast<std::int64_t>(ScatterReduction::amax): return "AMAX";
    case static_cast<std::int64_t>(ScatterReduction::amin): return "AMIN";
    default: return "REPLACE";
  }
}

std::int64_t columns_of(const ScatterProblem& p) { return p.outer * p.inner; }

constexpr CallScalar skipped{0}, scatter_fault_op{1};

// --- owner: each work-item owns some destinations and reads every position

struct Ownership {
  std::int64_t across, parts, units;
};

Ownership ownership_on_cpu(const ScatterProblem& p, const DeviceInfo& info) {
  const std::int64_t min_columns = p.whole_slices != 0 ? 256 : 16;  // 1 KB of a slice, or one cache line.
  const std::int64_t wanted = std::max<std::int64_t>(4, 2 * std::int64_t{info.compute_units});
  const std::int64_t outer = std::max<std::int64_t>(1, p.outer);
  const std::int64_t across = std::clamp<std::int64_t>(p.inner / min_columns, 1, ceil_div(wanted, outer));
  // The number of columns that a part must have. Each part reads every position, because it cannot know in advance
  // which positions it owns. This costs as much as adding many columns.
  constexpr std::int64_t worth_it = 64;
  const bool shared = p.whole_slices != 0 && p.inner >= worth_it;
  const std::int64_t share = shared ? std::min(wanted / (outer * across), p.size) : 1;
  const auto parts =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, share))));
  return {across, parts, p.outer * across * parts};
}

PlanOr plan_any_owner(const ScatterProblem& p, const Target& target, std::size_t) {
  const auto [y, index, src, fault] = operands<4>();
  const bool cpu = target.takes_cpu_kernels();
  const Ownership own = cpu ? ownership_on_cpu(p, target.info) : Ownership{p.inner, 1, columns_of(p)};
  const std::int64_t width = ceil_div(p.inner, own.across);
  runtime::KernelSpec spec{"index/scatter.cl",
                           p.whole_slices != 0 ? "scatter_rows" : "scatter_elements",
                           {{"T", type_of_result(p)},
                            {"COMBINE", combine_of(p)},
                            {"INDEX", number_type(static_cast<DType>(p.index_dtype))},
                            {"VW", target.cpu_vector_width()}}};
  define_type(spec.defines, "SOURCE", p.source);
  if (cpu) spec.defines.add({"VECTORS", 1});
  // A launch uses at most half of the loop budget. The next launch continues the sums.
  const std::int64_t step = std::clamp<std::int64_t>(target.loop_budget / 2 / (width + 1), 1, p.picked);
  const runtime::NdRange range =
      cpu ? persistent_range(target, own.units, std::min(step, p.picked) * (width + 1)) : target.flat_range(own.units);
  Plan plan;
  for (std::int64_t first = 0; first < p.picked; first += step)
    plan.add(spec, range, y, index, src, own.units, p.size, p.picked, p.inner, own.across, own.parts, skipped, first,
             std::min(first + step, p.picked), fault, scatter_fault_op);
  return plan;
}

PlanOr plan_owner(const ScatterProblem& p, const Target& target, std::size_t config) {
  constexpr std::int64_t enough = 1 << 14, few = 64;
  if (!target.takes_cpu_kernels() && columns_of(p) < enough && p.picked > few) return "too few columns to share out";
  return plan_any_owner(p, target, config);
}

// --- sorted: sorting brings the positions of each destination together

PlanOr plan_sorted(const ScatterProblem& p, const Target& target, std::size_t) {
  constexpr std::int64_t chunk = 32;
  const auto [y, index, src, fault] = operands<4>();
  const bool slices = p.whole_slices != 0;
  // The length of the sorted list, and the number of destinations in it.
  const std::int64_t count = slices ? p.picked : p.picked * columns_of(p);
  const std::int64_t size = slices ? p.size : p.size * columns_of(p);
  if (size > longest_sorted_row || count > longest_sorted_row)
    return "destinations or positions have more than 32 bits";
  const auto spec_of = [&](const char* entry) {
    runtime::KernelSpec spec{"index/segment_sum.cl",
                             entry,
                             {{"T", type_of_result(p)},
                              {"COMBINE", combine_of(p)},
                              {"INDEX", number_type(static_cast<DType>(p.index_dtype))},
                              {"CHUNK", chunk}}};
    define_type(spec.defines, "SOURCE", p.source);
    return spec;
  };
  const std::int64_t outer = slices ? p.outer : 1, inner = slices ? p.inner : 1;
  const std::int64_t chunks = ceil_div(count, chunk);
  Plan plan;
  const Place list = plan.workspace(8 * static_cast<std::uint64_t>(count));
  const Place partial = plan.workspace(bytes_of_result(p) * static_cast<std::uint64_t>(outer * chunks * 2 * inner));
  plan.add(spec_of("list_destinations"), target.flat_range(count), index, list, count, p.picked,
           slices ? std::int64_t{1} : p.inner, p.size, skipped, size, fault, scatter_fault_op);
  const Choice sort = choose(sort_table, {1, count, SortProblem::entries, 0, count}, target);
  const Place sorted = plan.append(sort.plan, {list});
  for (const char* entry : {"sum_chunks", "join_chunks"})
    plan.add(spec_of(entry), target.flat_range(outer * chunks * inner), sorted, src, y, partial, outer, count, size,
             inner, slices ? p.picked : count);
  return plan;
}

constexpr Variant<ScatterProblem> scatter_variant_list[] = {{"owner", DeviceClass::any, plan_owner},
                                                            {"sorted", DeviceClass::any, plan_sorted},
                                                            {"any_owner", DeviceClass::any, plan_any_owner}};
using ScatterTable = Table<ScatterProblem>;
const ScatterTable scatter_table("scatter", scatter_variant_list),
    scatter_add_table("scatter_add", scatter_variant_list),
    scatter_reduce_table("scatter_reduce", scatter_variant_list);
const ScatterTable index_copy_table("index_copy", scatter_variant_list),
    index_add_table("index_add", scatter_variant_list), index_reduce_table("index_reduce", scatter_variant_list);

constexpr auto adding = static_cast<std::int64_t>(ScatterReduction::sum);

// Runs the op on y, which is contiguous and has the dtype of the computation.
void run(const ScatterTable& table, const Tensor& y, const AxisSplit& split, const Tensor& index, const Tensor& src,
         std::int64_t picked, bool whole_slices, std::int64_t reduction, std::int64_t skipped_destination) {
  if (index.numel() == 0 || split.outer * split.inner == 0 || split.size == 0) return;
  const bool moves = reduction == ScatterProblem::replaces;
  const bool reads_halves = y.dtype() == DType::f32 && value_type(src.dtype()) == DType::f32;
  const ScatterProblem problem{split.outer,
                               split.size,
                               split.inner,
                               picked,
                               whole_slices ? 1 : 0,
                               static_cast<std::int64_t>(moves ? moved_as(y.dtype()) : y.dtype()),
                               static_cast<std::int64_t>(index.dtype()),
                               reduction,
                               reads_halves ? storage_of(src) : 0};
  const Contiguous positions(index), source(src, reads_halves ? src.dtype() : y.dtype());
  const PreparedPtr prepared = prepare(table, problem, state_of(y));
  runtime::FaultFlag& fault = fault_flag_of(state_of(y));
  launch(*prepared, {out(y), in(positions), in(source), fault.words()}, {skipped_destination, fault_number(table.op)});
  fault.expect();
}

// --- the dtypes of the results

void check_values(const char* op, const Tensor& x, const Tensor& index, const Tensor& src, std::int64_t reduction) {
  require(src.defined(), op, "a tensor is undefined");
  require_index(op, x, index);
  require_device(op, "the tensor", x, "the source", src);
  require(x.dtype() == src.dtype(), op, "the tensor holds ", x.dtype(), ", the source ", src.dtype());
  require(x.dtype() != DType::boolean || reduction == ScatterProblem::replaces, op, "bool cannot be combined");
}

DType computed_dtype(DType dtype, std::int64_t reduction) {
  if (reduction == ScatterProblem::replaces) return dtype;
  return value_type(dtype);
}

// A copy of x in the dtype of the computation. The op changes this copy.
Tensor start_of_result(const Tensor& x, std::int64_t reduction) {
  const DType dtype = computed_dtype(x.dtype(), reduction);
  return x.dtype() == dtype ? clone(x) : cast(x, dtype);
}

// --- the two shapes of an index

// Checks the arguments of an op whose index picks whole slices. Returns the axis.
int check_slices(const char* op, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                 std::int64_t reduction) {
  check_values(op, x, index, src, reduction);
  require(index.dim() <= 1, op, "the index must have rank 1, its shape is ", index.shape());
  const int at = normalized_axis(op, axis, x.dim());
  Shape shape = x.shape();
  shape[at] = index.numel();
  require(src.shape() == shape, op, "the source must have shape ", shape, ", it has ", src.shape());
  check_indices(op, index, x.shape()[at]);
  return at;
}

void run_slices(const ScatterTable& table, const Tensor& y, int at, const Tensor& index, const Tensor& src,
                std::int64_t reduction) {
  run(table, y, split_at(y.shape(), at), index, src, index.numel(), true, reduction, -1);
}

Tensor scatter_slices(const ScatterTable& table, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                      std::int64_t reduction) {
  const int at = check_slices(table.op, x, axis, index, src, reduction);
  const Tensor y = start_of_result(x, reduction);
  run_slices(table, y, at, index, src, reduction);
  return cast(y, x.dtype());
}

Tensor scatter_elements(const ScatterTable& table, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                        std::int64_t reduction) {
  const char* const op = table.op;
  check_values(op, x, index, src, reduction);
  require(index.dim() == x.dim() && src.dim() == x.dim(), op, "the index has shape ", index.shape(), ", the source ",
          src.shape(), ", the tensor ", x.shape(), ": the ranks must be equal");
  const int at = normalized_axis(op, axis, x.dim());
  for (int i = 0; i < x.dim(); ++i)
    require(index.shape()[i] <= src.shape()[i] && (i == at || index.shape()[i] <= x.shape()[i]), op,
            "the index has shape ", index.shape(), ", the source ", src.shape(), ", the tensor ", x.shape(),
            ": along axis ", i, " the index is larger");
  check_indices(op, index, x.shape()[at]);
  const Tensor y = start_of_result(x, reduction);
  Tensor part = y, source = src;
  for (int i = 0; i < x.dim(); ++i) {
    if (i != at) part = narrow(part, i, 0, index.shape()[i]);
    source = narrow(source, i, 0, index.shape()[i]);
  }
  const Tensor result = contiguous(part);
  run(table, result, split_at(part.shape(), at), index, source, index.shape()[at], false, reduction, -1);
  if (!part.is_contiguous()) copy_into(part, result);
  return cast(y, x.dtype());
}

}  // namespace

std::span<const Variant<ScatterProblem>> scatter_variants() { return scatter_variant_list; }

void add_at(const ScatterTable& table, const Tensor& y, const AxisSplit& split, const Tensor& index, const Tensor& src,
            std::optional<std::int64_t> not_added) {
  run(table, y, split, index, src, index.numel(), true, adding, not_added.value_or(-1));
}

Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_slices(index_add_table, x, axis, index, src, adding);
}

Tensor index_copy(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_slices(index_copy_table, x, axis, index, src, ScatterProblem::replaces);
}

Tensor index_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src, ScatterReduction reduction) {
  if (reduction == ScatterReduction::sum) return index_add(x, axis, index, src);
  return scatter_slices(index_reduce_table, x, axis, index, src, static_cast<std::int64_t>(reduction));
}

void index_write(const Tensor& x, int axis, const Tensor& index, const Tensor& src, bool accumulate) {
  const ScatterTable& table = accumulate ? index_add_table : index_copy_table;
  const std::int64_t reduction = accumulate ? adding : ScatterProblem::replaces;
  const int at = check_slices(table.op, x, axis, index, src, reduction);
  const Tensor source = src.shares_storage_with(x) ? clone(src) : src;
  const bool direct = x.is_contiguous() && computed_dtype(x.dtype(), reduction) == x.dtype();
  const Tensor y = direct ? x : start_of_result(x, reduction);
  run_slices(table, y, at, index, source, reduction);
  if (!direct) copy_into(x, y);
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_elements(scatter_add_table, x, axis, index, src, adding);
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_elements(scatter_table, x, axis, index, src, ScatterProblem::replaces);
}

Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src, ScatterReduction reduction) {
  if (reduction == ScatterReduction::sum) return scatter_add(x, axis, index, src);
  return scatter_elements(scatter_reduce_table, x, axis, index, src, static_cast<std::int64_t>(reduction));
}

}  // namespace crisol::ops
