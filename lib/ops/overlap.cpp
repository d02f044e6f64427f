#include "ops/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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

bool equal_axes(const Walk& a, const Walk& b) {
  return a.rank == b.rank &&
         std::equal(a.axes.begin(), a.axes.begin() + a.rank, b.axes.begin(),
                    [](const Axis& x, const Axis& y) { return x.step == y.step && x.size == y.size; });
}

// Whether two indices of one walk have elements at this distance. The distance is then a sum of k * step with |k| <
// size over the axes from `axis` on. `reach` is the largest distance that these axes can add up to.
bool lie_apart(const Walk& walk, int axis, std::int64_t distance, std::int64_t reach) {
  if (distance == 0) return true;
  if (axis == walk.rank || distance > reach || distance < -reach) return false;
  const Axis& own = walk.axes[static_cast<std::size_t>(axis)];
  const std::int64_t rest = reach - own.step * (own.size - 1);
  const auto down = [&](std::int64_t value) {
    return value >= 0 ? value / own.step : -((-value + own.step - 1) / own.step);
  };
  const std::int64_t first = std::max(-(own.size - 1), down(distance - rest + own.step - 1));
  const std::int64_t end = std::min(own.size - 1, down(distance + rest));
  for (std::int64_t k = first; k <= end; ++k)
    if (lie_apart(walk, axis + 1, distance - k * own.step, rest)) return true;
  return false;
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
  // For example columns of one matrix: the same strides from another start.
  const bool apart = equal_axes(walk_a, walk_b) && !lie_apart(walk_a, 0, lowest_b - lowest_a, walk_a.last);
  return apart ? Overlap::none : Overlap::partial;
}

bool repeats_elements(const Tensor& x) {
  if (x.numel() <= 1 || x.is_contiguous()) return false;
  for (int i = 0; i < x.dim(); ++i)
    if (x.strides()[i] == 0 && x.shape()[i] > 1) return true;
  // Two indices mean one element if k steps of an axis lead as far as some steps of the axes behind it. In most layouts
  // the axes behind it reach less far than one step.
  const Walk walk(x);
  std::int64_t reach = 0;
  for (int axis = walk.rank - 1; axis >= 0; --axis) {
    const auto [step, size] = walk.axes[static_cast<std::size_t>(axis)];
    for (std::int64_t k = 1; k < size && k * step <= reach; ++k)
      if (lie_apart(walk, axis + 1, k * step, reach)) return true;
    reach += step * (size - 1);
  }
  return false;
}

}  // namespace crisol::ops
