// How work is split. A CPU gets few work-items, each with a long contiguous piece. Other devices get many work-items.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ceil_div.h"
#include "dispatch/target.h"
#include "runtime/launch.h"

namespace crisol::dispatch {

struct WorkSplit {
  std::int64_t items;  ///< The number of work-items; see range_of.
  std::int64_t chunk;  ///< Elements of each work-item. The last one may have fewer.
};

/// A chunk has at least `least` elements, and their number is a multiple of `multiple`. There are at most four
/// work-items for each compute unit, unless the device's loop budget requires more. An element takes `iterations`
/// iterations of this budget.
inline WorkSplit split_for_cpu(const dispatch::Target& target, std::int64_t n, std::int64_t least = 8192,
                               std::int64_t multiple = 16, std::int64_t iterations = 2) {
  const std::int64_t longest = std::max<std::int64_t>(1, target.loop_budget / iterations / multiple) * multiple;
  const std::int64_t most = std::max(std::int64_t{4} * target.info.compute_units, ceil_div(n, longest));
  const std::int64_t wanted = std::clamp<std::int64_t>(n / least, 1, most);
  const std::int64_t even = ceil_div(ceil_div(n, wanted), multiple) * multiple;
  const std::int64_t chunk = std::min(even, longest);
  return {ceil_div(n, chunk), chunk};
}

/// Like split_for_cpu on devices that run kernels for CPUs. On other devices a work-item takes one element.
inline WorkSplit split_for(const dispatch::Target& target, std::int64_t n, std::int64_t least = 8192,
                           std::int64_t multiple = 16, std::int64_t iterations = 2) {
  if (!target.takes_cpu_kernels()) return {n, 1};
  return split_for_cpu(target, n, least, multiple, iterations);
}

/// The range for `items` work-items from split_for. Kernels for CPUs have groups of one item.
inline runtime::NdRange range_of(const dispatch::Target& target, std::int64_t items) {
  if (!target.takes_cpu_kernels()) return target.flat_range(items);
  return {{items}, {1}};
}

/// Two work-items for each compute unit, at least 8, and as many as the loop budget requires, but no more than there
/// are units of work. A unit takes at most `iterations` iterations. In the kernel, item i takes the units from units *
/// i / items on.
inline runtime::NdRange persistent_range(const dispatch::Target& target, std::int64_t units, std::int64_t iterations) {
  const std::int64_t units_of_item = std::max<std::int64_t>(1, target.loop_budget / iterations);
  const std::int64_t items =
      std::max({std::int64_t{8}, 2 * std::int64_t{target.info.compute_units}, units / units_of_item + 1});
  return {{std::min(items, units)}, {1}};
}

/// Calls launch(begin, end) for parts of n steps, one after another, because the loops of one launch must stay within
/// the device's loop budget. A step takes `iterations` iterations of this budget.
template <class Launch>
void in_launches(const dispatch::Target& target, std::int64_t n, std::int64_t iterations, const Launch& launch) {
  const std::int64_t most = std::max<std::int64_t>(1, target.loop_budget / iterations);
  for (std::int64_t begin = 0; begin < n; begin += most) launch(begin, std::min(begin + most, n));
}

}  // namespace crisol::dispatch
