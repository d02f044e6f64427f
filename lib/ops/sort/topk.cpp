// Finds the first elements of an order without sorting the rest. The variants are "select" (CPUs), "group_select" and
// "sort".
#include <algorithm>
#include <bit>

#include "base/text.h"
#include "dispatch/work_split.h"
#include "ops/result.h"
#include "ops/sort/ordered_axis.h"
#include "ops/sort/sort_entries.h"
#include "sort/sizes.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct TopkProblem {
  std::int64_t rows, length;  ///< Contiguous rows.
  std::int64_t k;
  std::int64_t largest;  ///< 1 or 0.
  std::int64_t of_dtype;

  DType dtype() const { return static_cast<DType>(of_dtype); }
  dispatch::ProblemKey key() const {
    return {{"rows", rows}, {"length", length}, {"k", k}, {"largest", largest}, {"dtype", of_dtype}};
  }
};

constexpr const char* two_keys = "64-bit elements are sorted by one half after the other";

// The plan of a kernel that finds `entries`, which are the first k of each row in order.
template <class AddSelection>
Plan plan_by(const TopkProblem& p, const Target& target, AddSelection add_selection) {
  const auto [x, values, indices] = operands<3>();
  Plan plan;
  const Place entries = plan.workspace(8 * static_cast<std::uint64_t>(p.rows) * static_cast<std::uint64_t>(p.k));
  add_selection(plan, x, entries);
  EntrySteps{plan, target, p.dtype(), p.largest != 0, p.rows, p.length}.take(x, entries, p.k, values, indices, p.k);
  return plan;
}

PlanOr plan_select(const TopkProblem& p, const Target& target, std::size_t) {
  constexpr std::uint64_t max_scratch = std::uint64_t{1} << 28;
  // For counting, listing and sorting all elements of a row.
  const std::int64_t iterations = 8 * p.length + p.k + 4 * BINS;
  if (has_two_keys(p.dtype())) return two_keys;
  if (const char* reason = target.against_iterations(iterations)) return reason;
  const runtime::NdRange range = persistent_range(target, p.rows, iterations);
  const std::uint64_t items = range.global[0], bytes_of_lists = 16 * items * static_cast<std::uint64_t>(p.length);
  if (bytes_of_lists > max_scratch) return "the lists of entries would be too long";
  return plan_by(p, target, [&](Plan& plan, const Place& x, const Place& entries) {
    const Place lists = plan.workspace(bytes_of_lists), counts = plan.workspace(4 * BINS * items);
    plan.add({"sort/topk_cpu.cl", "select_rows", {{"TYPE", key_type(p.dtype())}}}, range, x, entries, lists, counts,
             p.rows, p.length, p.k, flip_of(p.largest != 0));
  });
}

PlanOr plan_group_select(const TopkProblem& p, const Target& target, std::size_t) {
  constexpr std::int64_t max_selected = 1024;
  const auto group =
      static_cast<std::int64_t>(std::bit_floor(std::min<std::uint64_t>(256, target.info.max_work_group)));
  if (has_two_keys(p.dtype())) return two_keys;
  if (p.k > max_selected) return "more than 1024 elements are wanted";
  if (const char* reason = target.against_iterations(9 * (p.length / group) + 16384)) return reason;
  // The kernel has two tile sizes. Most calls ask for few elements and use the small one.
  const std::int64_t tile = p.k <= 128 ? 128 : max_selected;
  return plan_by(p, target, [&](Plan& plan, const Place& x, const Place& entries) {
    plan.add(
        {"sort/topk_group.cl", "select_by_group", {{"TYPE", key_type(p.dtype())}, {"TILE", tile}, {"GROUP", group}}},
        {{p.rows * group}, {group}}, x, entries, p.length, p.k, flip_of(p.largest != 0));
  });
}

PlanOr plan_sort(const TopkProblem& p, const Target& target, std::size_t) {
  Plan plan;
  plan.append(choose(sort_table, {p.rows, p.length, p.of_dtype, p.largest, p.k}, target).plan, operands<3>());
  return plan;
}

constexpr Variant<TopkProblem> topk_variants[] = {{"select", DeviceClass::cpu, plan_select},
                                                  {"group_select", DeviceClass::any, plan_group_select},
                                                  {"sort", DeviceClass::any, plan_sort}};
const Table<TopkProblem> topk_table("topk", topk_variants);

}  // namespace

SortResult topk(const Tensor& x, std::int64_t k, int axis, bool largest) {
  require(x.defined(), topk_table.op, "the tensor is undefined");
  const OrderedAxis ordered(topk_table.op, x, axis);
  require(k >= 0 && k <= ordered.length(), topk_table.op, "k is ", k, ", axis ", axis, " of shape ", x.shape(), " has ",
          ordered.length(), " elements");
  const std::int64_t rows = ordered.rows().shape()[0];
  const SortResult first = ordered.empty_result(k);
  const Contiguous values = ordered.restored(first.values), indices = ordered.restored(first.indices);
  if (rows > 0 && k > 0) {
    const TopkProblem problem{rows, ordered.length(), k, largest ? 1 : 0, static_cast<std::int64_t>(x.dtype())};
    const PreparedPtr prepared = prepare(topk_table, problem, state_of(x));
    ordered.fill();
    launch(*prepared, {in(ordered.rows()), out(first.values), out(first.indices)});
  }
  return {ordered.result(values), ordered.result(indices)};
}

void topk_into(const Tensor& values, const Tensor& indices, const Tensor& x, std::int64_t k, int axis, bool largest) {
  deliver(topk_table.op, {&values, &indices}, {&x}, [&] { return results_of(topk(x, k, axis, largest)); });
}

}  // namespace crisol::ops
