// Reductions on GPUs: each output has a work-item, or a group of work-items.
#include <algorithm>

#include "base/ceil_div.h"
#include "ops/reduce/reduce_cut.h"

namespace crisol::ops {

using dispatch::Target;

namespace {

/// The number of work-items in a group that works on one output: 128, or the largest power of two that the device
/// allows.
std::int64_t group_size(const Target& target) {
  std::uint64_t size = 128;
  while (size > target.info.max_work_group) size /= 2;
  return static_cast<std::int64_t>(size);
}

/// The number of parts with which pieces * parts is about `wanted`. A part has at least `min_elements`, and its
/// elements are counted in 32 bits.
std::int64_t parts_for(const ReduceProblem& p, std::int64_t pieces, std::int64_t wanted, std::int64_t min_elements) {
  const std::int64_t elements = p.loop.elements;
  const auto parts = std::clamp<std::int64_t>(std::min(ceil_div(wanted, pieces), elements / min_elements), 1, 1024);
  return std::max(parts, ceil_div(elements, std::int64_t{1} << 30));
}

Cut cut_of(const ReduceProblem& p, const char* entry, const runtime::NdRange& range, std::int64_t parts) {
  const bool by_items = p.loop.outputs >= 512 && parts <= 256;
  Cut cut{"reduce/reduce_groups.cl", entry, by_items ? "join_items" : "join_groups", range, parts};
  cut.joined_by_items = by_items;
  return cut;
}

}  // namespace

Cut cut_items(const ReduceProblem& p, const Target& target) {
  const Vectors vectors = p.source.whole_across != 0 ? Vectors::across : Vectors::scalars;
  const runtime::NdRange flat = target.flat_range(p.loop.outputs / (vectors == Vectors::across ? gpu_width : 1));
  const auto items = static_cast<std::int64_t>(flat.global[0]), local = static_cast<std::int64_t>(flat.local[0]);
  const std::int64_t parts = parts_for(p, items, 1 << 15, 64);
  Cut cut = cut_of(p, "items", {{items, parts}, {local, 1}}, parts);
  cut.span = group_size(target);
  cut.rows = 1;
  cut.vectors = vectors;
  return cut;
}

Cut cut_groups(const ReduceProblem& p, const Target& target) {
  const bool whole = p.source.whole_along != 0 && p.loop.elements >= gpu_width;
  const std::int64_t unit = whole ? gpu_width : 1, group = group_size(target);
  // Each item should have at least about a block of eight units. Otherwise four rows share a group.
  const std::int64_t span = p.loop.outputs >= 4 && p.loop.elements < 16 * unit * group ? ceil_div(group, 4) : group;
  const std::int64_t rows = group / span, blocks = ceil_div(p.loop.outputs, rows);
  const std::int64_t wanted = std::int64_t{8} * target.info.compute_units;
  const std::int64_t parts = parts_for(p, blocks, wanted, 8 * unit * group);
  Cut cut = cut_of(p, "groups", {{blocks * span, rows * parts}, {span, rows}}, parts);
  cut.span = span;
  cut.rows = rows;
  cut.vectors = whole ? Vectors::along : Vectors::scalars;
  return cut;
}

}  // namespace crisol::ops
