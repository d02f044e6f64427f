// gather and index_select: cl_kernels/index/gather.cl.
#include <algorithm>

#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

runtime::KernelSpec spec_of(const GatherProblem& p, const Target& target, const char* entry) {
  return {"index/gather.cl",
          entry,
          {{"ELEMENT", type_of_element(static_cast<DType>(p.dtype))},
           {"INDEX", number_type(static_cast<DType>(p.index_dtype))},
           {"VW", target.cpu_vector_width()}}};
}

std::int64_t elements_of_result(const GatherProblem& p) { return p.outer * p.picked * p.inner; }

constexpr CallScalar missing{0}, fault_op{1};

// Makes the plan of gather_runs or gather_elements.
Plan plan_each(const GatherProblem& p, const Target& target, const char* entry, const runtime::NdRange& range) {
  const auto [x, index, y, fault] = operands<4>();
  const bool single = p.inner == 1, slices = p.whole_slices != 0;
  const std::int64_t of_row = single ? 0 : (slices ? 1 : p.inner);
  const std::int32_t step = single || !slices ? 1 : 0;
  Plan plan;
  plan.add(spec_of(p, target, entry), range, x, index, y, single ? p.outer : p.outer * p.picked,
           single ? p.picked : p.inner, single ? std::int64_t{1} : p.picked, p.size, p.inner, std::int32_t{!single},
           slices ? std::int64_t{0} : p.picked * p.inner, of_row, step, missing, fault, fault_op);
  return plan;
}

PlanOr plan_rows(const GatherProblem& p, const Target& target, std::size_t) {
  if (p.whole_slices == 0) return "neighbours have indices of their own";
  if (p.inner < 4) return "rows are shorter than a vector";
  const auto [x, index, y, fault] = operands<4>();
  const std::int64_t rows = p.outer * p.picked, columns = std::min<std::int64_t>(p.inner, 16384);
  const std::int64_t iterations = std::max(columns, columns / target.cpu_vector_width() + 8);
  const std::int64_t units = rows * ceil_div(p.inner, columns);
  Plan plan;
  plan.add(spec_of(p, target, "select_rows"), persistent_range(target, units, iterations), x, index, y, rows, p.picked,
           p.size, p.inner, columns, missing, fault, fault_op);
  return plan;
}

PlanOr plan_runs(const GatherProblem& p, const Target& target, std::size_t) {
  return plan_each(p, target, "gather_runs", persistent_range(target, elements_of_result(p), 2));
}

PlanOr plan_elements(const GatherProblem& p, const Target& target, std::size_t) {
  return plan_each(p, target, "gather_elements", target.flat_range(elements_of_result(p)));
}

constexpr Variant<GatherProblem> variants[] = {{"rows", DeviceClass::cpu, plan_rows},
                                               {"runs", DeviceClass::cpu, plan_runs},
                                               {"elements", DeviceClass::any, plan_elements}};
// Only index_select has a further variant "rows", because it takes whole slices.
const Table<GatherProblem> gather_table("gather", gather_variants());
const Table<GatherProblem> select_table("index_select", variants);

void run(const Table<GatherProblem>& table, const Tensor& x, const AxisSplit& split, const Contiguous& index,
         std::int64_t picked, bool whole_slices, const Tensor& y, std::uint64_t value_of_missing,
         std::int32_t fault_of_missing) {
  if (y.numel() == 0) return;
  const GatherProblem problem{split.outer,
                              split.size,
                              split.inner,
                              picked,
                              whole_slices ? 1 : 0,
                              static_cast<std::int64_t>(moved_as(x.dtype())),
                              static_cast<std::int64_t>(index.layout().dtype())};
  const Contiguous elements(x);
  const PreparedPtr prepared = prepare(table, problem, state_of(x));
  runtime::FaultFlag& fault = fault_flag_of(state_of(x));
  launch(*prepared, {in(elements), in(index), out(y), fault.words()}, {value_of_missing, fault_of_missing});
  if (fault_of_missing != 0) fault.expect();
}

Tensor gather(const Tensor& x, int axis, const Tensor& index, const Tensor* into) {
  require(x.defined(), gather_table.op, "the tensor is undefined");
  return gather_or(gather_table, x, axis, index, missing_element(x.dtype()), fault_number(gather_table.op), into);
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index, const Tensor* into) {
  const char* const op = select_table.op;
  require_index(op, x, index);
  require(index.dim() <= 1, op, "the index must have rank 1, its shape is ", index.shape());
  const int at = normalized_axis(op, axis, x.dim());
  check_indices(op, index, x.shape()[at]);
  return select_slices(x, at, Contiguous(index), into);
}

}  // namespace

std::span<const Variant<GatherProblem>> gather_variants() { return std::span(variants).subspan(1); }

Tensor gather_or(const Table<GatherProblem>& table, const Tensor& x, int axis, const Tensor& index,
                 std::uint64_t value_of_missing, std::int32_t fault, const Tensor* into) {
  const char* const op = table.op;
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
  Result y(op, into, index.shape(), x.dtype(), x.device(), {&x, &index});
  run(table, part, split_at(part.shape(), at), Contiguous(index), index.shape()[at], false, y.place(), value_of_missing,
      fault);
  return y.done();
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) { return gather(x, axis, index, nullptr); }
void gather_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index) { gather(x, axis, index, &y); }

Tensor index_select(const Tensor& x, int axis, const Tensor& index) { return index_select(x, axis, index, nullptr); }
void index_select_into(const Tensor& y, const Tensor& x, int axis, const Tensor& index) {
  index_select(x, axis, index, &y);
}

Tensor select_slices(const Tensor& x, int axis, const Contiguous& index, const Tensor* into) {
  Shape shape = x.shape();
  shape[axis] = index.layout().numel();
  Result y(select_table.op, into, shape, x.dtype(), x.device(), {&x, &index.layout()});
  run(select_table, x, split_at(x.shape(), axis), index, shape[axis], true, y.place(), missing_element(x.dtype()),
      fault_number(select_table.op));
  return y.done();
}

}  // namespace crisol::ops
