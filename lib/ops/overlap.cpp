#include "ops/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "tensor/impl.h"

namespace crisol::ops {

namespace {

struct Axis {
  std::int64_t step, size;
};

/// The axes of a tensor, with the longest stride first.
struct Walk {
  std::array<Axis, Shape::max_rank> axes{};
  int rank = 0;
  std::int64_t first = 0;  ///< The lowest element, counted from the first one of the tensor.
  std::int64_t last = 0;   ///< The distance of the furthest element from the lowest one.

  explicit Walk(const Tensor& x) {
    for (int i = 0; i < x.dim(); ++i) {
      const std::int64_t size = x.shape()[i], stride = x.strides()[i], step = std::abs(stride);
      if (size == 1 || step == 0) continue;
      axes[static_cast<std::size_t>(rank++)] = {step, size};
      last += step * (size - 1);
      if (stride < 0) first += stride * (size - 1);
    }
    std::sort(axes.begin(), axes.begin() + rank, [](const Axis& a, const Axis& b) { return a.step > b.step; });
  }
};

/// How far the elements of one walk may lie from those of another: any number of steps from `low` to `high`, which have
/// 0 between them, on each axis.
struct Distances {
  struct Steps {
    std::int64_t step, low, high;
  };
  std::array<Steps, Shape::max_rank> axes{};
  int rank = 0;
  std::int64_t least = 0, most = 0;  ///< The ends of all distances.

  void add(std::int64_t step, std::int64_t low, std::int64_t high) {
    axes[static_cast<std::size_t>(rank++)] = {step, low, high};
    least += step * low;
    most += step * high;
  }
};

// The distances from elements of b to those of a. Nothing if each has an axis whose step the other one does not have:
// the search could then take long.
std::optional<Distances> distances_of(const Walk& a, const Walk& b) {
  Distances distances;
  int i = 0, j = 0;
  bool only_a = false, only_b = false;
  while (i < a.rank || j < b.rank) {
    const Axis none{0, 1};
    const Axis& x = i < a.rank ? a.axes[static_cast<std::size_t>(i)] : none;
    const Axis& y = j < b.rank ? b.axes[static_cast<std::size_t>(j)] : none;
    const bool has_a = x.step >= y.step, has_b = y.step >= x.step;
    only_a = only_a || !has_b;
    only_b = only_b || !has_a;
    if (only_a && only_b) return std::nullopt;
    distances.add(std::max(x.step, y.step), has_b ? 1 - y.size : 0, has_a ? x.size - 1 : 0);
    i += has_a ? 1 : 0;
    j += has_b ? 1 : 0;
  }
  return distances;
}

// Whether some steps on the axes from `axis` on add up to a distance. `least` and `most` are the ends of their sums.
bool contains(const Distances& distances, int axis, std::int64_t distance, std::int64_t least, std::int64_t most) {
  if (distance == 0) return true;
  if (axis == distances.rank || distance < least || distance > most) return false;
  const Distances::Steps& own = distances.axes[static_cast<std::size_t>(axis)];
  const std::int64_t rest_least = least - own.step * own.low, rest_most = most - own.step * own.high;
  const auto down = [&](std::int64_t value) {
    return value >= 0 ? value / own.step : -((-value + own.step - 1) / own.step);
  };
  const std::int64_t first = std::max(own.low, down(distance - rest_most + own.step - 1));
  const std::int64_t end = std::min(own.high, down(distance - rest_least));
  for (std::int64_t k = first; k <= end; ++k)
    if (contains(distances, axis + 1, distance - k * own.step, rest_least, rest_most)) return true;
  return false;
}
bool contains(const Distances& distances, std::int64_t distance) {
  return contains(distances, 0, distance, distances.least, distances.most);
}

std::int64_t first_element(const Tensor& x) {
  return static_cast<std::int64_t>(x.impl()->storage->base / size_of(x.dtype())) + x.offset();
}

// The stride of an axis of size 1 is never used.
bool equal_strides(const Tensor& a, const Tensor& b) {
  for (int i = 0; i < a.dim(); ++i)
    if (a.shape()[i] != 1 && a.strides()[i] != b.strides()[i]) return false;
  return true;
}

}  // namespace

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0 || a.impl()->storage->block != b.impl()->storage->block) return Overlap::none;
  const bool same_type = a.dtype() == b.dtype();
  if (same_type && first_element(a) == first_element(b) && a.shape() == b.shape() && equal_strides(a, b))
    return Overlap::same;
  const Walk walk_a(a), walk_b(b);
  const std::int64_t lowest_a = first_element(a) + walk_a.first, lowest_b = first_element(b) + walk_b.first;
  const auto bytes_a = static_cast<std::int64_t>(size_of(a.dtype())),
             bytes_b = static_cast<std::int64_t>(size_of(b.dtype()));
  const std::int64_t first_a = lowest_a * bytes_a, first_b = lowest_b * bytes_b;
  if (first_a + (walk_a.last + 1) * bytes_a <= first_b || first_b + (walk_b.last + 1) * bytes_b <= first_a)
    return Overlap::none;
  if (!same_type) return Overlap::partial;
  // For example columns of one matrix: the same strides from another start, perhaps of other sizes.
  const std::optional<Distances> distances = distances_of(walk_a, walk_b);
  return distances && !contains(*distances, lowest_b - lowest_a) ? Overlap::none : Overlap::partial;
}

bool repeats_elements(const Tensor& x) {
  if (x.numel() <= 1 || x.is_contiguous()) return false;
  for (int i = 0; i < x.dim(); ++i)
    if (x.strides()[i] == 0 && x.shape()[i] > 1) return true;
  // Two indices mean one element if k steps of an axis lead as far as some steps of the axes behind it. In most layouts
  // the axes behind it reach less far than one step.
  const Walk walk(x);
  Distances within;
  for (int axis = 0; axis < walk.rank; ++axis) {
    const auto [step, size] = walk.axes[static_cast<std::size_t>(axis)];
    within.add(step, 1 - size, size - 1);
  }
  std::int64_t reach = 0;
  for (int axis = walk.rank - 1; axis >= 0; --axis) {
    const auto [step, size] = walk.axes[static_cast<std::size_t>(axis)];
    for (std::int64_t k = 1; k < size && k * step <= reach; ++k)
      if (contains(within, axis + 1, k * step, -reach, reach)) return true;
    reach += step * (size - 1);
  }
  return false;
}

}  // namespace crisol::ops
