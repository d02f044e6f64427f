// Repeating the elements of images: cl_kernels/vision/enlarge.cl. The variants are "rows" (CPUs) and "elements".
#include <algorithm>

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/vision.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct EnlargeProblem {
  std::int64_t rows, width, down, across, dtype;

  std::int64_t outputs() const { return rows * down * width * across; }
  dispatch::ProblemKey key() const {
    return {{"rows", rows}, {"width", width}, {"down", down}, {"across", across}, {"dtype", dtype}};
  }
};

Plan plan_of(const EnlargeProblem& p, const Target& target, const char* entry, const runtime::NdRange& range) {
  const auto [x, y] = operands<2>();
  Plan plan;
  plan.add({"vision/enlarge.cl",
            entry,
            {{"ELEMENT", type_of_element(static_cast<DType>(p.dtype))}, {"VW", target.cpu_vector_width()}}},
           range, x, y, p.rows, p.width, static_cast<std::int32_t>(p.down), static_cast<std::int32_t>(p.across));
  return plan;
}

PlanOr plan_rows(const EnlargeProblem& p, const Target& target, std::size_t) {
  const std::int64_t iterations = p.width * p.across * (p.down + 1);
  if (const char* reason = target.against_iterations(iterations)) return reason;
  return plan_of(p, target, "enlarge_rows", persistent_range(target, p.rows, iterations));
}

PlanOr plan_elements(const EnlargeProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, "enlarge_elements", target.flat_range(p.outputs()));
}

constexpr Variant<EnlargeProblem> variants[] = {{"rows", DeviceClass::cpu, plan_rows},
                                                {"elements", DeviceClass::any, plan_elements}};
const Table<EnlargeProblem> table("enlarge", variants);

Tensor enlarge(const Tensor& x, std::int64_t down, std::int64_t across, const Tensor* into) {
  const char* const op = table.op;
  require(x.defined(), op, "the input is undefined");
  require(x.dim() >= 2, op, "the input has shape ", x.shape(), ", (…, H, W) expected");
  require(down > 0 && across > 0 && std::max(down, across) < INT32_MAX, op, "elements are repeated ", down, " x ",
          across, " times");
  Shape shape = x.shape();
  shape[x.dim() - 2] *= down;
  shape[x.dim() - 1] *= across;
  Result y(op, into, shape, x.dtype(), x.device(), {&x});
  if (x.numel() == 0) return y.done();
  const std::int64_t width = x.shape().back();
  const Contiguous from(x);
  const PreparedPtr prepared = prepare(
      table, {x.numel() / width, width, down, across, static_cast<std::int64_t>(moved_as(x.dtype()))}, state_of(x));
  launch(*prepared, {in(from), out(y)});
  return y.done();
}

}  // namespace

Tensor enlarge(const Tensor& x, std::int64_t down, std::int64_t across) { return enlarge(x, down, across, nullptr); }
void enlarge_into(const Tensor& y, const Tensor& x, std::int64_t down, std::int64_t across) {
  enlarge(x, down, across, &y);
}

}  // namespace crisol::ops
