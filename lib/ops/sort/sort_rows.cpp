// Sorts rows of entries. The variant "radix" (CPUs) sorts parts of rows by counting digits, with one work-item for each
// part. The variant "merge" sorts runs of up to 1024 entries in local memory. If a row has several parts or runs, they
// are merged two by two.
#include "ops/sort/sort_rows.h"

#include "base/ceil_div.h"

#include <algorithm>
#include <bit>

#include "dispatch/work_split.h"
#include "ops/sort/sort_entries.h"
#include "sort/sizes.h"

namespace crisol::ops {

namespace {

/// Buffers with one entry for each element. The steps of a plan use them repeatedly.
class Buffers {
 public:
  Buffers(Plan& plan, const SortProblem& p)
      : plan_(plan), bytes_(8 * static_cast<std::uint64_t>(p.rows) * static_cast<std::uint64_t>(p.length)) {}

  Place take() {
    if (free_.empty()) return plan_.workspace(bytes_);
    const Place place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(const Place& place) { free_.push_back(place); }

 private:
  Plan& plan_;
  std::uint64_t bytes_;
  std::vector<Place> free_;
};

/// The steps that sort entries. They may overwrite `entries`. Returns the place of the result.
using SortSteps = Place (*)(Plan&, const SortProblem&, const Target&, const Place& entries, Buffers&);

// Merges runs of `run` entries until each row is one run. `other` is scratch memory of the same size. Returns the place
// of the result, and makes the other place free again.
Place merge_all(Plan& plan, const SortProblem& p, const Target& target, const runtime::KernelSpec& merge_runs,
                std::int64_t run, Place from, Place other, Buffers& buffers) {
  const std::int64_t n = p.length, piece = target.info.type == DeviceType::cpu ? 4096 : 16;
  for (; run < n; run *= 2) {
    const std::int64_t pairs = ceil_div(n, 2 * run), pieces = ceil_div(2 * run, piece);
    const std::int64_t items = p.rows * pairs * pieces;
    plan.add(merge_runs, range_of(target, items), from, other, p.rows, n, run, piece);
    std::swap(from, other);
  }
  buffers.give_back(other);
  return from;
}

// The number of entries in a part of a row, and the loop iterations for sorting one part.
struct Parts {
  std::int64_t length, iterations;
};

Parts parts_of(const SortProblem& p, const Target& target) {
  constexpr std::int64_t counts = 2 * RADIX_COUNTS + 64,
                         rounds = 6;  // The loop rounds for digit counts, and for each entry.
  constexpr std::int64_t worth_it = 1 << 14;
  const std::int64_t n = p.length;
  std::int64_t parts = 1;
  // If there are fewer rows than the compute units need, rows are split.
  while (p.rows * parts < 2 * std::int64_t{target.info.compute_units} && n / (2 * parts) >= worth_it) parts *= 2;
  const std::int64_t longest = (target.loop_budget - counts) / rounds;
  const std::int64_t length = std::min(ceil_div(n, parts), longest);
  return {length, length * rounds + counts};
}

Place add_radix(Plan& plan, const SortProblem& p, const Target& target, const Place& entries, Buffers& buffers) {
  constexpr std::uint64_t bytes_of_counts = 4 * RADIX_COUNTS;
  const Parts parts = parts_of(p, target);
  const std::int64_t units = p.rows * ceil_div(p.length, parts.length);
  const runtime::NdRange range = persistent_range(target, units, parts.iterations);
  const Place scratch = buffers.take(), digit_counts = plan.workspace(range.global[0] * bytes_of_counts);
  plan.add({"sort/sort_radix.cl", "sort_parts"}, range, entries, scratch, digit_counts, p.rows, p.length, parts.length);
  return merge_all(plan, p, target, {"sort/sort_merge.cl", "merge_runs"}, parts.length, entries, scratch, buffers);
}

Place add_merge(Plan& plan, const SortProblem& p, const Target& target, const Place& entries, Buffers& buffers) {
  constexpr std::int64_t tile = 1024;
  const auto group =
      static_cast<std::int64_t>(std::bit_floor(std::min<std::uint64_t>(256, target.info.max_work_group)));
  const auto spec_of = [&](const char* entry) {
    return runtime::KernelSpec{"sort/sort_merge.cl", entry, {{"TILE", tile}, {"GROUP", group}}};
  };
  const auto row_width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(p.length)));
  const std::int64_t width = std::min(tile, row_width);
  const std::int64_t runs = p.rows * ceil_div(p.length, width), runs_of_tile = tile / width;
  const std::int64_t groups = ceil_div(runs, runs_of_tile);
  plan.add(spec_of("sort_tiles"), {{groups * group}, {group}}, entries, p.rows, p.length,
           static_cast<std::int32_t>(width));
  if (width >= p.length) return entries;
  return merge_all(plan, p, target, spec_of("merge_runs"), width, entries, buffers.take(), buffers);
}

template <SortSteps add_sort>
PlanOr plan_sort(const SortProblem& p, const Target& target, std::size_t) {
  Plan plan;
  Buffers buffers(plan, p);
  if (p.dtype == SortProblem::entries) {
    plan.result = add_sort(plan, p, target, operand(0), buffers);
    return plan;
  }
  const auto [x, values, indices] = operands<3>();
  const auto dtype = static_cast<DType>(p.dtype);
  const EntrySteps steps{plan, target, dtype, p.descending != 0, p.rows, p.length};
  const Place entries = buffers.take();
  steps.make(x, entries);
  Place sorted = add_sort(plan, p, target, entries, buffers);
  if (has_two_keys(dtype)) {
    // Sorts by the lower half first, then, with a stable sort, by the upper half.
    const Place again = buffers.take();
    steps.make_next(x, sorted, again);
    const Place order = add_sort(plan, p, target, again, buffers);
    steps.join(sorted, order);
    sorted = order;
  }
  steps.take(x, sorted, p.length, values, indices, p.taken);
  return plan;
}

constexpr Variant<SortProblem> variants[] = {{"radix", DeviceClass::cpu, plan_sort<add_radix>},
                                             {"merge", DeviceClass::any, plan_sort<add_merge>}};

}  // namespace

const Table<SortProblem> sort_table("sort", variants);

}  // namespace crisol::ops
