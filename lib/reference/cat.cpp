#include "reference/cat.h"

#include "reference/index_loop.h"

namespace crisol::reference {

Values cat(const std::vector<Values>& parts, int axis) {
  Values result{parts.front().shape, {}};
  result.shape[axis] = 0;
  for (const Values& part : parts) result.shape[axis] += part.shape[axis];
  result.values.resize(static_cast<std::size_t>(result.shape.numel()));
  std::int64_t start = 0;
  for (const Values& part : parts) {
    for_each_index(part.shape, [&](Shape index) {
      const double value = part.values[position(index, part.shape)];
      index[axis] += start;
      result.values[position(index, result.shape)] = value;
    });
    start += part.shape[axis];
  }
  return result;
}

Values stack(const std::vector<Values>& parts, int axis) {
  std::vector<Values> flat = parts;
  for (Values& part : flat) part.shape.insert(axis, 1);
  return cat(flat, axis);
}

Values narrow(const Values& x, int axis, std::int64_t start, std::int64_t length) {
  Values result{x.shape, {}};
  result.shape[axis] = length;
  for_each_index(result.shape, [&](Shape index) {
    index[axis] += start;
    result.values.push_back(x.values[position(index, x.shape)]);
  });
  return result;
}

Values pad(const Values& x, const std::vector<AxisPadding>& paddings, double value) {
  Values result{x.shape, {}};
  const auto padding_of = [&](int axis) {
    const auto from_last = static_cast<std::size_t>(x.shape.rank() - 1 - axis);
    return from_last < paddings.size() ? paddings[from_last] : AxisPadding{};
  };
  for (int axis = 0; axis < x.shape.rank(); ++axis)
    result.shape[axis] += padding_of(axis).before + padding_of(axis).after;
  for_each_index(result.shape, [&](Shape index) {
    bool inside = true;
    for (int axis = 0; axis < x.shape.rank(); ++axis) {
      index[axis] -= padding_of(axis).before;
      inside = inside && index[axis] >= 0 && index[axis] < x.shape[axis];
    }
    result.values.push_back(inside ? x.values[position(index, x.shape)] : value);
  });
  return result;
}

}  // namespace crisol::reference
