// gather and index_select: cl_kernels/index/gather.cl.
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/product/gemm.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct GatherProblem {
  const char* op;
  Tensor x, index, y;  ///< Contiguous.
  AxisSplit split;     ///< The split of x.
  std::int64_t picked;
  bool whole_slices;  ///< True for index_select.
  std::uint64_t missing;

  ProblemKey key() const {
    return {{"outer", split.outer}, {"size", split.size},     {"inner", split.inner},
            {"picked", picked},     {"slices", whole_slices}, {"dtype", static_cast<std::int64_t>(x.dtype())}};
  }
};

runtime::KernelSpec gather_spec(const GatherProblem& p, const char* entry) {
  return {"index/gather.cl",
          entry,
          {{"ELEMENT", type_of_element(p.x.dtype())},
           {"INDEX", type_of_index(p.op, p.index)},
           {"VW", cpu_vector_width(state_of(p.x))}}};
}

void launch_gather(const GatherProblem& p, const char* entry, const runtime::NdRange& range) {
  const std::int64_t inner = p.split.inner, outer = p.split.outer;
  const bool single = inner == 1;
  const std::int64_t of_row = single ? 0 : (p.whole_slices ? 1 : inner);
  const std::int32_t step = single || !p.whole_slices ? 1 : 0;
  runtime::launch(state_of(p.x), gather_spec(p, entry), range, in(p.x), in(p.index), out(p.y),
                  single ? outer : outer * p.picked, single ? p.picked : inner, single ? std::int64_t{1} : p.picked,
                  p.split.size, inner, std::int32_t{!single}, p.whole_slices ? std::int64_t{0} : p.picked * inner,
                  of_row, step, p.missing);
}

const char* refuse_rows(const GatherProblem& p, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "loops over rows are for CPUs";
  if (!p.whole_slices) return "neighbours have indices of their own";
  if (p.split.inner < 4) return "rows are shorter than a vector";
  return nullptr;
}

void run_rows(const GatherProblem& p) {
  runtime::DeviceState& device = state_of(p.x);
  const std::int64_t inner = p.split.inner, rows = p.split.outer * p.picked;
  const std::int64_t columns = std::min<std::int64_t>(inner, 16384);
  const std::int64_t iterations = std::max(columns, columns / cpu_vector_width(device) + 8);
  const std::int64_t units = rows * ((inner + columns - 1) / columns);
  runtime::launch(device, gather_spec(p, "select_rows"), persistent_range(device, units, iterations), in(p.x),
                  in(p.index), out(p.y), rows, p.picked, p.split.size, inner, columns, p.missing);
}

const char* refuse_runs(const GatherProblem&, const DeviceInfo& info) {
  return takes_cpu_kernels(info) ? nullptr : "runs of elements are for CPUs";
}

void run_runs(const GatherProblem& p) {
  launch_gather(p, "gather_runs", persistent_range(state_of(p.x), p.y.numel(), 2));
}

void run_elements(const GatherProblem& p) {
  launch_gather(p, "gather_elements", runtime::flat_range(state_of(p.x), p.y.numel()));
}

constexpr Variant<GatherProblem> variants[] = {
    {"rows", refuse_rows, run_rows}, {"runs", refuse_runs, run_runs}, {"elements", accept_all, run_elements}};

void run(const GatherProblem& p) {
  if (p.y.numel() > 0) choose(p.op, variants, p, p.x.device().info()).run(p);
}

}  // namespace

Tensor gather_or(const char* op, const Tensor& x, int axis, const Tensor& index, std::uint64_t missing) {
  require_index(op, x, index);
  require(index.dim() == x.dim(), op, "the index has shape ", index.shape(), ", the tensor ", x.shape(),
          ": the ranks must be equal");
  const int at = normalized_axis(op, axis, x.dim());
  Tensor part = x;
  for (int i = 0; i < x.dim(); ++i) {
    if (i == at) continue;
    require(index.shape()[i] <= x.shape()[i], op, "the index has shape ", index.shape(), ", the tensor ", x.shape(),
            ": along axis ", i, " the index is larger");
    part = narrow(part, i, 0, index.shape()[i]);
  }
  check_indices(op, index, x.shape()[at]);
  const Tensor y = empty(index.shape(), x.dtype(), x.device());
  run({op, contiguous(part), contiguous(index), y, split_at(part.shape(), at), index.shape()[at], false, missing});
  return y;
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  require(x.defined(), "gather", "the tensor is undefined");
  return gather_or("gather", x, axis, index, missing_element(x.dtype()));
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  constexpr const char* op = "index_select";
  require_index(op, x, index);
  require(index.dim() <= 1, op, "the index must have rank 1, its shape is ", index.shape());
  const int at = normalized_axis(op, axis, x.dim());
  check_indices(op, index, x.shape()[at]);
  Shape shape = x.shape();
  shape[at] = index.numel();
  const Tensor y = empty(shape, x.dtype(), x.device());
  run({op, contiguous(x), contiguous(index), y, split_at(x.shape(), at), index.numel(), true,
       missing_element(x.dtype())});
  return y;
}

}  // namespace crisol::ops
