// scatter_add and index_add: cl_kernels/index/scatter_add.cl. GPUs also use cl_kernels/index/segment_sum.cl.
#include <algorithm>
#include <bit>

#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/product/gemm.h"
#include "ops/sort/sort_rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct ScatterProblem {
  const char* op;
  Tensor y, index, src;  ///< Contiguous.
  AxisSplit split;       ///< The split of y.
  std::int64_t picked;   ///< The number of positions along the axis of src.
  bool whole_slices;     ///< True for index_add.
  std::int64_t skipped;  ///< -1 if no destination is skipped.

  ProblemKey key() const {
    return {{"outer", split.outer}, {"size", split.size},     {"inner", split.inner},
            {"picked", picked},     {"slices", whole_slices}, {"dtype", static_cast<std::int64_t>(y.dtype())}};
  }
  std::int64_t columns() const { return split.outer * split.inner; }
  /// The length of the sorted list, and the number of destinations in it.
  std::int64_t entries() const { return index.numel(); }
  std::int64_t destinations() const { return whole_slices ? split.size : split.size * columns(); }
};

const char* type_of_sum(DType dtype) { return dtype == DType::f32 ? "float" : (dtype == DType::i32 ? "int" : "long"); }

// --- owner: each work-item owns some destinations and reads every position

struct Ownership {
  std::int64_t across, parts, units;
};

Ownership ownership_on_cpu(const ScatterProblem& p, const DeviceInfo& info) {
  const std::int64_t least_columns = p.whole_slices ? 256 : 16;  // 1 KB of a slice, or a cache line.
  const std::int64_t wanted = std::max<std::int64_t>(4, 2 * std::int64_t{info.compute_units});
  const std::int64_t outer = std::max<std::int64_t>(1, p.split.outer);
  const std::int64_t across = std::clamp<std::int64_t>(p.split.inner / least_columns, 1, (wanted + outer - 1) / outer);
  // Each part reads every position, because it cannot know which positions it owns. This costs as much as adding many
  // columns.
  constexpr std::int64_t worth_it = 64;
  const bool shared = p.whole_slices && p.split.inner >= worth_it;
  const std::int64_t share = shared ? std::min(wanted / (outer * across), p.split.size) : 1;
  const auto parts =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, share))));
  return {across, parts, p.split.outer * across * parts};
}

void run_owner(const ScatterProblem& p) {
  runtime::DeviceState& device = state_of(p.y);
  const DeviceInfo& info = runtime::info_of(device);
  const bool cpu = takes_cpu_kernels(info);
  const Ownership own = cpu ? ownership_on_cpu(p, info) : Ownership{p.split.inner, 1, p.columns()};
  const std::int64_t width = (p.split.inner + own.across - 1) / own.across;
  runtime::KernelSpec spec{
      "index/scatter_add.cl",
      p.whole_slices ? "add_rows" : "add_elements",
      {{"T", type_of_sum(p.y.dtype())}, {"INDEX", type_of_index(p.op, p.index)}, {"VW", cpu_vector_width(device)}}};
  if (cpu) spec.defines.add({"VECTORS", 1});
  runtime::Kernel& kernel = runtime::resolve(device, spec);
  // A launch uses at most half of the loop budget. The next launch continues the sums.
  const std::int64_t step = std::clamp<std::int64_t>(loop_budget(info) / 2 / (width + 1), 1, p.picked);
  const runtime::NdRange range = cpu ? persistent_range(device, own.units, std::min(step, p.picked) * (width + 1))
                                     : runtime::flat_range(device, own.units);
  for (std::int64_t first = 0; first < p.picked; first += step)
    runtime::launch(device, kernel, range, out(p.y), in(p.index), in(p.src), own.units, p.split.size, p.picked,
                    p.split.inner, own.across, own.parts, p.skipped, first, std::min(first + step, p.picked));
}

const char* refuse_owner(const ScatterProblem& p, const DeviceInfo& info) {
  if (takes_cpu_kernels(info)) return nullptr;
  constexpr std::int64_t enough = 1 << 14, few = 64;
  if (p.columns() < enough && p.picked > few) return "too few columns to share out";
  return nullptr;
}

// --- sorted: sorting puts the positions of each destination next to each other

const char* refuse_sorted(const ScatterProblem& p, const DeviceInfo&) {
  const std::int64_t most = longest_sorted_row;
  if (p.destinations() > most || p.entries() > most) return "destinations or positions have more than 32 bits";
  return nullptr;
}

void run_sorted(const ScatterProblem& p) {
  constexpr std::int64_t chunk = 32;
  runtime::DeviceState& device = state_of(p.y);
  const auto spec_of = [&](const char* entry) {
    return runtime::KernelSpec{
        "index/segment_sum.cl",
        entry,
        {{"T", type_of_sum(p.y.dtype())}, {"INDEX", type_of_index(p.op, p.index)}, {"CHUNK", chunk}}};
  };
  runtime::Kernel& list_destinations = runtime::resolve(device, spec_of("list_destinations"));
  runtime::Kernel& sum_chunks = runtime::resolve(device, spec_of("sum_chunks"));
  runtime::Kernel& join_chunks = runtime::resolve(device, spec_of("join_chunks"));
  const std::int64_t count = p.entries(), size = p.destinations();
  const std::int64_t outer = p.whole_slices ? p.split.outer : 1, inner = p.whole_slices ? p.split.inner : 1;
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  const Tensor list = empty({1, count}, DType::i64, p.y.device());
  const Tensor partial = empty({outer, chunks, 2, inner}, p.y.dtype(), p.y.device());
  runtime::launch(device, list_destinations, runtime::flat_range(device, count), in(p.index), out(list), count,
                  p.picked, p.whole_slices ? std::int64_t{1} : p.split.inner, p.split.size, p.skipped, size);
  const Tensor sorted = sort_rows(list);
  for (runtime::Kernel* kernel : {&sum_chunks, &join_chunks})
    runtime::launch(device, *kernel, runtime::flat_range(device, outer * chunks * inner), in(sorted), in(p.src),
                    out(p.y), out(partial), outer, count, size, inner, p.whole_slices ? p.picked : count);
}

constexpr Variant<ScatterProblem> variants[] = {
    {"owner", refuse_owner, run_owner}, {"sorted", refuse_sorted, run_sorted}, {"any_owner", accept_all, run_owner}};

void run(const ScatterProblem& p) {
  if (p.index.numel() == 0 || p.columns() == 0 || p.split.size == 0) return;
  choose(p.op, variants, p, p.y.device().info()).run(p);
}

// --- the dtypes of the sums

void check_values(const char* op, const Tensor& x, const Tensor& index, const Tensor& src) {
  require(src.defined(), op, "a tensor is undefined");
  require_index(op, x, index);
  require_device(op, "the tensor", x, "what is added", src);
  require(x.dtype() == src.dtype(), op, "the tensor holds ", x.dtype(), ", what is added ", src.dtype());
  require(x.dtype() != DType::boolean, op, "bool cannot be added");
}

DType sum_dtype(DType dtype) {
  if (dtype == DType::f16) return DType::f32;
  return dtype == DType::u8 ? DType::i32 : dtype;
}

// A copy of x in the dtype of the sums. The sums are added to this copy.
Tensor start_of_sums(const Tensor& x) {
  const DType dtype = sum_dtype(x.dtype());
  return x.dtype() == dtype ? clone(x) : cast(x, dtype);
}

}  // namespace

void index_add_into(const char* op, const Tensor& y, const AxisSplit& split, const Tensor& index, const Tensor& src,
                    std::optional<std::int64_t> skipped) {
  run({op, y, contiguous(index), contiguous(cast(src, y.dtype())), split, index.numel(), true, skipped.value_or(-1)});
}

Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  constexpr const char* op = "index_add";
  check_values(op, x, index, src);
  require(index.dim() <= 1, op, "the index must have rank 1, its shape is ", index.shape());
  const int at = normalized_axis(op, axis, x.dim());
  Shape shape = x.shape();
  shape[at] = index.numel();
  require(src.shape() == shape, op, "what is added must have shape ", shape, ", it has ", src.shape());
  check_indices(op, index, x.shape()[at]);
  const Tensor y = start_of_sums(x);
  index_add_into(op, y, split_at(x.shape(), at), index, src);
  return cast(y, x.dtype());
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  constexpr const char* op = "scatter_add";
  check_values(op, x, index, src);
  require(index.dim() == x.dim() && src.dim() == x.dim(), op, "the index has shape ", index.shape(), ", what is added ",
          src.shape(), ", the tensor ", x.shape(), ": the ranks must be equal");
  const int at = normalized_axis(op, axis, x.dim());
  for (int i = 0; i < x.dim(); ++i)
    require(index.shape()[i] <= src.shape()[i] && (i == at || index.shape()[i] <= x.shape()[i]), op,
            "the index has shape ", index.shape(), ", what is added ", src.shape(), ", the tensor ", x.shape(),
            ": along axis ", i, " the index is larger");
  check_indices(op, index, x.shape()[at]);
  const Tensor y = start_of_sums(x);
  Tensor part = y, added = src;
  for (int i = 0; i < x.dim(); ++i) {
    if (i != at) part = narrow(part, i, 0, index.shape()[i]);
    added = narrow(added, i, 0, index.shape()[i]);
  }
  const Tensor sums = contiguous(part);
  run({op, sums, contiguous(index), contiguous(cast(added, y.dtype())), split_at(part.shape(), at), index.shape()[at],
       false, -1});
  if (!part.is_contiguous()) copy_into(part, sums);
  return cast(y, x.dtype());
}

}  // namespace crisol::ops
