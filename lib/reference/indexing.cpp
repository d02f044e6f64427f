#include "reference/indexing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/index_loop.h"

namespace crisol::reference {

namespace {

// Sets the index along an axis to `to`. Returns false if `to` is outside of the axis.
bool moved(Shape& index, int axis, double to, const Shape& shape) {
  if (to < 0 || to >= static_cast<double>(shape[axis])) return false;
  index[axis] = static_cast<std::int64_t>(to);
  return true;
}

// Repeats the indices along an axis over the other axes of `shape`.
Values spread(const std::vector<double>& index, int axis, Shape shape) {
  shape[axis] = static_cast<std::int64_t>(index.size());
  Values result{shape, {}};
  for_each_index(shape, [&](const Shape& at) { result.values.push_back(index[static_cast<std::size_t>(at[axis])]); });
  return result;
}

double combined(double old, double next, ScatterReduction reduction) {
  if (reduction == ScatterReduction::sum) return old + next;
  if (reduction == ScatterReduction::prod) return old * next;
  if (std::isnan(old) || std::isnan(next)) return std::numeric_limits<double>::quiet_NaN();
  return reduction == ScatterReduction::amax ? std::max(old, next) : std::min(old, next);
}

}  // namespace

Values gather(const Values& x, int axis, const Values& index) {
  Values result{index.shape, {}};
  for_each_index(index.shape, [&](Shape at) {
    const double to = index.values[position(at, index.shape)];
    result.values.push_back(moved(at, axis, to, x.shape) ? x.values[position(at, x.shape)]
                                                         : std::numeric_limits<double>::quiet_NaN());
  });
  return result;
}

Values index_select(const Values& x, int axis, const std::vector<double>& index) {
  return gather(x, axis, spread(index, axis, x.shape));
}

Values scatter(const Values& x, int axis, const Values& index, const Values& src,
               std::optional<ScatterReduction> reduction) {
  Values result = x;
  for_each_index(index.shape, [&](Shape at) {
    const double value = src.values[position(at, src.shape)];
    const double to = index.values[position(at, index.shape)];
    if (!moved(at, axis, to, x.shape)) return;
    double& place = result.values[position(at, x.shape)];
    place = reduction ? combined(place, value, *reduction) : value;
  });
  return result;
}

Values scatter_slices(const Values& x, int axis, const std::vector<double>& index, const Values& src,
                      std::optional<ScatterReduction> reduction) {
  return scatter(x, axis, spread(index, axis, x.shape), src, reduction);
}

Values scatter_add(const Values& x, int axis, const Values& index, const Values& src) {
  return scatter(x, axis, index, src, ScatterReduction::sum);
}

Values index_add(const Values& x, int axis, const std::vector<double>& index, const Values& src) {
  return scatter_slices(x, axis, index, src, ScatterReduction::sum);
}

Values nonzero(const Values& x) {
  Values result{{0, x.shape.rank()}, {}};
  for_each_index(x.shape, [&](const Shape& at) {
    if (x.values[position(at, x.shape)] == 0) return;
    ++result.shape[0];
    for (const std::int64_t place : at) result.values.push_back(static_cast<double>(place));
  });
  return result;
}

Values one_hot(const Values& indices, std::int64_t classes) {
  Values result{indices.shape, {}};
  result.shape.push_back(classes);
  for (const double index : indices.values)
    for (std::int64_t c = 0; c < classes; ++c) result.values.push_back(index == static_cast<double>(c));
  return result;
}

Values triangle(const Values& x, std::int64_t diagonal, bool upper) {
  Values result = x;
  const int rank = x.shape.rank();
  for_each_index(x.shape, [&](const Shape& at) {
    const std::int64_t from_diagonal = at[rank - 1] - at[rank - 2] - diagonal;
    if (upper ? from_diagonal < 0 : from_diagonal > 0) result.values[position(at, x.shape)] = 0;
  });
  return result;
}

Sorted sort(const Values& x, int axis, bool descending) {
  Sorted result{x, x};
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  Shape lines = x.shape;
  lines[axis] = std::min<std::int64_t>(lines[axis], 1);
  for_each_index(lines, [&](Shape at) {
    const auto place = [&](std::int64_t i) {
      at[axis] = i;
      return position(at, x.shape);
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(x.shape[axis]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      const double a = x.values[place(i)], b = x.values[place(j)];
      return descending ? less(b, a) : less(a, b);
    });
    for (std::int64_t i = 0; i < x.shape[axis]; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      result.values.values[place(i)] = x.values[place(from)];
      result.indices.values[place(i)] = static_cast<double>(from);
    }
  });
  return result;
}

}  // namespace crisol::reference
