// Reductions on CPUs: few work-items, each with a long piece.
#include <algorithm>
#include <cmath>

#include "base/ceil_div.h"
#include "ops/reduce/reduce_cut.h"

namespace crisol::ops {

using dispatch::Target;

namespace {

/// The number of work-items for which the work is enough. Waking a thread for less work costs more than it saves.
std::int64_t items_worth(const ReduceProblem& p, const Target& target) {
  const double work = static_cast<double>(p.loop.outputs) * static_cast<double>(p.loop.elements);
  const double min_work = p.kind() == Combine::log_sum_exp ? 1 << 14 : 1 << 18;
  if (work < 2 * min_work) return 1;
  // PoCL gives a thread its share of the remaining groups at a time. If there were few groups, one thread would get
  // most of them.
  const std::int64_t max_items = std::int64_t{16} * target.info.compute_units;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(4 * work / min_work, 1e9)), 1, max_items);
}

/// The number of parts with which items * parts fits the amount of work. A part has at least `min_elements`. No
/// work-item exceeds the loop budget, and elements of a part are counted in 32 bits.
std::int64_t parts_for(const ReduceProblem& p, const Target& target, std::int64_t items, std::int64_t min_elements,
                       double rounds_of_item) {
  const std::int64_t elements = p.loop.elements;
  const std::int64_t wanted = std::min(ceil_div(items_worth(p, target), items), elements / min_elements);
  const double budget = static_cast<double>(target.loop_budget) / 2;
  const auto needed = static_cast<std::int64_t>(std::ceil(rounds_of_item / budget));
  return std::max({std::int64_t{1}, wanted, std::min(needed, elements), ceil_div(elements, std::int64_t{1} << 30)});
}

}  // namespace

Cut cut_rows(const ReduceProblem& p, const Target& target) {
  const std::int64_t outputs = p.loop.outputs, elements = std::max<std::int64_t>(p.loop.elements, 1);
  const std::int64_t lanes = target.cpu_vector_width(), budget = target.loop_budget / 2;
  std::int64_t chunk = ceil_div(outputs, items_worth(p, target));
  if (chunk > lanes) chunk = ceil_div(chunk, lanes) * lanes;
  const std::int64_t rounds_of_row = elements + 128;
  chunk = std::min(chunk, std::max<std::int64_t>(1, budget / rounds_of_row));
  const std::int64_t items = ceil_div(outputs, chunk);
  const double rounds = static_cast<double>(chunk) * static_cast<double>(rounds_of_row);
  const std::int64_t parts = parts_for(p, target, items, 8192, rounds);
  return {"reduce/reduce_rows.cl", "rows", "join", {{items, parts}, {1, 1}}, parts, chunk};
}

Cut cut_columns(const ReduceProblem& p, const Target& target) {
  const std::int64_t lanes = target.cpu_vector_width(), width = p.width();
  const std::int64_t outer = p.loop.outputs / width, elements = std::max<std::int64_t>(p.loop.elements, 1);
  const std::int64_t wanted = items_worth(p, target);
  std::int64_t strip = std::min<std::int64_t>(strip_vectors(target), ceil_div(width, lanes)) * lanes;
  // If there are too few rows to cut, strips become narrower.
  while (outer * ceil_div(width, strip) < wanted && elements < 64 * wanted && strip > 4 * lanes)
    strip = ceil_div(strip / 2, lanes) * lanes;
  const std::int64_t units = outer * ceil_div(width, strip), budget = target.loop_budget / 2;
  const std::int64_t rounds_of_unit = 64 + elements * (strip / lanes + lanes + 16);
  const std::int64_t items =
      std::max(std::min(units, wanted), ceil_div(units, std::max<std::int64_t>(1, budget / rounds_of_unit)));
  const double rounds = static_cast<double>(ceil_div(units, items)) * static_cast<double>(rounds_of_unit);
  const std::int64_t parts = parts_for(p, target, items, 16, rounds);
  return {"reduce/reduce_columns.cl", "columns", "join", {{items, parts}, {1, 1}}, parts, units, strip};
}

}  // namespace crisol::ops
