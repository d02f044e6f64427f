#include "ops/rowwise/rows.h"

#include "base/ceil_div.h"

#include <algorithm>

#include "base/text.h"
#include "dispatch/device_defines.h"
#include "ops/probe/shuffle.h"

namespace crisol::ops {

namespace {

// For shorter rows, most of a group would be idle.
constexpr std::int64_t shortest_tree_row = 32;

std::int64_t group_of(const Target& target, std::uint64_t wanted) {
  std::uint64_t size = wanted;
  while (size > target.info.max_work_group) size /= 2;
  return static_cast<std::int64_t>(size);
}

// An upper bound for the loop rounds that a kernel takes for one row.
std::int64_t rounds_of_row(std::int64_t length, std::int64_t elements_a_round) {
  return 4 * (length / elements_a_round + 16);
}

}  // namespace

std::int64_t RowGeometry::rows_of_item(const Target& target, std::int64_t length) const {
  return std::max<std::int64_t>(1, target.loop_budget / rounds_of_row(length, in_lanes ? 1 : lanes));
}

runtime::NdRange RowGeometry::each_row(const Target& target, std::int64_t rows, std::int64_t length,
                                       std::int64_t step) const {
  if (lanes == 1) return range(rows);
  const DeviceInfo& info = target.info;
  const double work = static_cast<double>(rows) * static_cast<double>(length);
  const auto worth = static_cast<std::int64_t>(std::min(work / (1 << 14), 32.0 * info.compute_units));
  // A vector of rows is a unit, and its rows are neighbours in memory (row_begin in the kernels).
  const std::int64_t run = std::max<std::int64_t>(1, step > 1 ? step : rows);
  const std::int64_t units = in_lanes ? rows / run * ceil_div(run, std::int64_t{lanes}) : rows;
  const std::int64_t items = std::max({std::int64_t{1}, worth, ceil_div(units, rows_of_item(target, length))});
  return {{std::min(items, units)}, {1}};
}

runtime::Defines row_defines(const Target& target, const RowGeometry& g, std::int64_t type) {
  runtime::Defines defines{{"VW", g.lanes}, {"GROUP", g.group}};
  define_elements(defines, type);
  if (g.in_lanes) defines.add({"ROW_LANES", 1});
  dispatch::define_math(defines, target.info);
  if (g.group > 1) add_shuffle_define(defines, target, g.group);
  return defines;
}

RowGeometry vector_rows(const Target& target) { return {target.cpu_vector_width(), 1, 1}; }

RowGeometry lane_rows(const Target& target) { return {target.cpu_vector_width(), 1, 1, true}; }

RowGeometry item_rows(const Target& target) { return {1, 1, group_of(target, 64)}; }

RowGeometry tree_rows(const Target& target) {
  const std::int64_t group = group_of(target, 128);
  return {1, group, group};
}

RowGeometry total_row(const Target& target, const RowGeometry& g, std::int64_t length) {
  return target.info.type == DeviceType::cpu && length <= 4096 ? g : tree_rows(target);
}

void require_tree_rows(const RowProblem& problem, const Target& target) {
  require(rounds_of_row(problem.length, tree_rows(target).group) <= target.loop_budget, "rows", target.info.name,
          " ends loops early, without an error: rows of ", problem.length, " elements are too long for it");
}

const char* against_vector_rows(const RowProblem& problem, const Target& target) {
  if (problem.step != 1) return "the elements of a row are not neighbours";
  if (problem.length < vector_rows(target).lanes) return "rows are shorter than a vector";
  return target.against_iterations(rounds_of_row(problem.length, vector_rows(target).lanes));
}

const char* against_lane_rows(const RowProblem& problem, const Target& target) {
  return target.against_iterations(rounds_of_row(problem.length, 1));
}

const char* against_item_rows(const RowProblem& problem, const Target& target) {
  if (const char* reason = target.against_iterations(rounds_of_row(problem.length, 1))) return reason;
  if (target.info.type == DeviceType::cpu) return nullptr;
  return problem.length < shortest_tree_row ? nullptr : "rows are long enough for a group each";
}

}  // namespace crisol::ops
