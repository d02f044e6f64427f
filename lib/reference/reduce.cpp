#include "reference/reduce.h"

#include <cmath>

namespace crisol::reference {

std::vector<std::int64_t> reduction_outputs(const Shape& shape, const Shape& axes) {
  std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()), axes.empty());
  for (const std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis < 0 ? axis + shape.rank() : axis)] = true;
  std::vector<std::int64_t> outputs;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    std::int64_t rest = i, output = 0, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (!reduced[static_cast<std::size_t>(axis)]) {
        output += rest % shape[axis] * step;
        step *= shape[axis];
      }
      rest /= shape[axis];
    }
    outputs.push_back(output);
  }
  return outputs;
}

std::vector<std::vector<double>> reduction_groups(const std::vector<double>& x, const Shape& shape, const Shape& axes) {
  std::int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    bool kept = !axes.empty();
    for (const std::int64_t named : axes) kept = kept && (named < 0 ? named + shape.rank() : named) != axis;
    if (kept) count *= shape[axis];
  }
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(count));
  const std::vector<std::int64_t> outputs = reduction_outputs(shape, axes);
  for (std::size_t i = 0; i < x.size(); ++i) groups[static_cast<std::size_t>(outputs[i])].push_back(x[i]);
  return groups;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

double largest(const std::vector<double>& values) { return values[static_cast<std::size_t>(first_largest(values))]; }

double smallest(const std::vector<double>& values) {
  double least = values[0];
  for (const double value : values)
    if (value < least || std::isnan(value)) least = value;
  return least;
}

std::int64_t first_largest(const std::vector<double>& values) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return static_cast<std::int64_t>(i);
    if (values[i] > values[at]) at = i;
  }
  return static_cast<std::int64_t>(at);
}

}  // namespace crisol::reference
