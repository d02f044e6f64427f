// Running sums along an axis. An axis that is too long for one work-item (or group) is cut into blocks. A reduction
// computes the blocks' sums, a scan of these sums computes the sum before each block, and one launch does the rest.
#include <algorithm>

#include "base/ceil_div.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/reduce/reduce_problem.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

/// x and the result are (outer, n, inner), contiguous, of f32, f16, bf16, f64, i64 or u64.
struct CumsumProblem {
  std::int64_t outer, n, inner;
  std::int64_t dtype;  ///< A DType.
  std::int64_t reverse;
  std::int64_t offset;  ///< The offset of x's first element. The plan of the blocks' reduction depends on it.

  DType type() const { return static_cast<DType>(dtype); }
  /// The type in which sums are computed.
  DType computed() const { return value_type(type()); }
  ProblemKey key() const {
    return {{"outer", outer}, {"length", n}, {"inner", inner}, {"dtype", dtype}, {"reverse", reverse}};
  }
};

extern const Table<CumsumProblem> cumsum_table;

/// The block length that gives the wanted number of independent pieces. A block has `pieces` pieces.
std::int64_t block_length(const CumsumProblem& p, std::int64_t pieces, std::int64_t wanted, std::int64_t min_length,
                          std::int64_t max_length) {
  const std::int64_t blocks = std::clamp<std::int64_t>(p.n / min_length, 1, ceil_div(wanted, pieces));
  return std::clamp<std::int64_t>(ceil_div(ceil_div(p.n, blocks), 64) * 64, 1, max_length);
}

runtime::KernelSpec spec_of(const CumsumProblem& p, const Target& target, const char* entry, std::int64_t local) {
  runtime::KernelSpec spec{"reduce/cumsum.cl", entry, {{"S", dtype_row(p.computed()).opencl}, {"REVERSE", p.reverse}}};
  if (!is_floating(p.type())) spec.defines.add({"INTEGER", 1});
  if (p.computed() != p.type()) spec.defines.add({"HALVES", dtype_row(p.type()).opencl});
  spec.defines.add({"VW", target.cpu_vector_width()});
  define_math(spec.defines, target.info);
  spec.defines.add({"LOCAL", local});
  return spec;
}

/// Adds the steps that compute the offsets: for each block except for the last, the sum of all elements up to its end.
Place add_offsets(Plan& plan, const CumsumProblem& p, const Target& target, Place x, std::int64_t length,
                  std::int64_t blocks) {
  if (blocks == 1) return x;  // Not read.
  const std::int64_t covered = (blocks - 1) * length;
  const std::int64_t first = p.reverse != 0 ? (p.n - covered) * p.inner : 0;
  // x split along the axis.
  const Shape shape{p.outer, blocks - 1, length, p.inner}, strides{p.n * p.inner, length * p.inner, p.inner, 1};
  const ReduceView in_blocks{p.type(), shape, strides, static_cast<std::uint64_t>(p.offset + first)};
  const DType computed = p.computed();
  const CumsumProblem scan{p.outer, blocks - 1, p.inner, static_cast<std::int64_t>(computed), p.reverse, 0};
  const std::uint64_t bytes = size_of(computed) * static_cast<std::uint64_t>(scan.outer * scan.n * scan.inner);
  const Place sums = plan.workspace(bytes), offsets = plan.workspace(bytes);
  static const ReduceRule sum{"sum", Combine::sum, ReduceTypes::unrounded};
  const ReduceProblem block_sums = reduce_problem(sum, in_blocks, 1u << 2, 0);
  const Place of_sums[] = {x.offset_by(first), sums}, of_scan[] = {sums, offsets};
  plan.append(choose(reduce_table, block_sums, target).plan, of_sums);
  plan.append(choose(cumsum_table, scan, target).plan, of_scan);
  return offsets;
}

struct Scan {
  const char* entry;
  std::int64_t length;          ///< The length of a block.
  std::int64_t units_of_block;  ///< Independent pieces in a block.
  std::int64_t local;           ///< LOCAL.
};

template <class Range>
Plan plan_scan(const CumsumProblem& p, const Target& target, const Scan& scan, Range range_of_units) {
  const auto [x, y] = operands<2>();
  const std::int64_t blocks = ceil_div(p.n, scan.length), units = p.outer * blocks * scan.units_of_block;
  Plan plan;
  const Place offsets = add_offsets(plan, p, target, x, scan.length, blocks);
  plan.add(spec_of(p, target, scan.entry, scan.local), range_of_units(units), x, offsets, y,
           Shape{p.outer, p.n, p.inner, blocks, scan.length, units});
  return plan;
}

/// The number of work-items for which the work is enough on a CPU.
std::int64_t cpu_items(const CumsumProblem& p, const Target& target) {
  const std::int64_t elements = p.outer * p.n * p.inner;
  return std::clamp<std::int64_t>(elements >> 17, 1, std::int64_t{4} * target.info.compute_units);
}

PlanOr plan_cpu_rows(const CumsumProblem& p, const Target& target, std::size_t) {
  if (p.inner != 1) return "the axis is not contiguous";
  const std::int64_t length = block_length(p, p.outer, cpu_items(p, target), 1 << 16, target.loop_budget / 4);
  return plan_scan(p, target, {"rows", length, 1, 2},
                   [&](std::int64_t units) { return persistent_range(target, units, 2 * length + 64); });
}

PlanOr plan_cpu_columns(const CumsumProblem& p, const Target& target, std::size_t) {
  if (p.inner == 1) return "the axis is contiguous";
  const std::int64_t lanes = target.cpu_vector_width(), strips = ceil_div(p.inner, lanes), rounds = lanes + 4;
  const std::int64_t max_length = std::max<std::int64_t>(1, target.loop_budget / 4 / rounds);
  const std::int64_t length = block_length(p, p.outer * strips, cpu_items(p, target), 1 << 10, max_length);
  return plan_scan(p, target, {"columns", length, strips, 2},
                   [&](std::int64_t units) { return persistent_range(target, units, rounds * length + 64); });
}

PlanOr plan_groups(const CumsumProblem& p, const Target& target, std::size_t) {
  if (p.inner != 1) return "the axis is not contiguous";
  const auto local = static_cast<std::int64_t>(std::min<std::uint64_t>(128, target.info.max_work_group));
  const std::int64_t wanted = std::int64_t{8} * target.info.compute_units;
  const std::int64_t length = block_length(p, p.outer, wanted, 8 * local, 1 << 16);
  return plan_scan(p, target, {"groups", length, 1, local}, [&](std::int64_t units) {
    return runtime::NdRange{{units * local}, {local}};
  });
}

PlanOr plan_items(const CumsumProblem& p, const Target& target, std::size_t) {
  const std::int64_t length = block_length(p, p.outer * p.inner, 1 << 15, 64, 1 << 14);
  return plan_scan(p, target, {"items", length, p.inner, 2},
                   [&](std::int64_t units) { return target.flat_range(units); });
}

constexpr Variant<CumsumProblem> variants[] = {{"rows", DeviceClass::cpu, plan_cpu_rows},
                                               {"columns", DeviceClass::cpu, plan_cpu_columns},
                                               {"groups", DeviceClass::any, plan_groups},
                                               {"items", DeviceClass::any, plan_items}};
const Table<CumsumProblem> cumsum_table("cumsum", variants);

Tensor running_sum(const char* op, const Tensor& x, int axis, bool reverse, const Tensor* into = nullptr) {
  require(x.defined(), op, "the tensor is undefined");
  axis = axis_or_scalar(op, axis, x.dim());
  const DType type = is_floating(x.dtype()) ? x.dtype() : accumulator(ReduceTypes::total, x.dtype());
  Result y(op, into, x.shape(), type, x.device(), {&x});
  if (x.numel() > 0) {
    const auto [outer, n, inner] = split_at(x.shape(), axis);
    const Contiguous input(x, type);
    const CumsumProblem problem{outer,           n,
                                inner,           static_cast<std::int64_t>(type),
                                reverse ? 1 : 0, static_cast<std::int64_t>(in(input.layout()).offset)};
    const PreparedPtr prepared = prepare(cumsum_table, problem, state_of(x));
    launch(*prepared, {in(input), out(y)});
  }
  return y.done();
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) { return running_sum(cumsum_table.op, x, axis, false); }
void cumsum_into(const Tensor& y, const Tensor& x, int axis) { running_sum(cumsum_table.op, x, axis, false, &y); }

Tensor cumsum_backward(const Tensor& dy, int axis) { return running_sum("cumsum_backward", dy, axis, true); }

}  // namespace crisol::ops
