#include "reference/reduce.h"

#include <cmath>
#include <limits>

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

std::int64_t first_smallest(const std::vector<double>& values) {
  std::vector<double> negated = values;
  for (double& value : negated) value = -value;
  return first_largest(negated);
}

double product(const std::vector<double>& values) {
  double total = 1;
  for (const double value : values) total *= value;
  return total;
}

double mean(const std::vector<double>& values) { return sum(values) / static_cast<double>(values.size()); }

double variance(const std::vector<double>& values, double correction) {
  const double middle = mean(values);
  double total = 0;
  for (const double value : values) total += (value - middle) * (value - middle);
  return total / std::fmax(0.0, static_cast<double>(values.size()) - correction);
}

double norm(const std::vector<double>& values, double p) {
  std::vector<double> terms = values;
  for (double& value : terms) value = std::fabs(value);
  if (std::isinf(p)) return p > 0 ? largest(terms) : smallest(terms);
  for (double& value : terms) value = p == 0 ? value != 0 : std::pow(value, p);
  return p == 0 ? sum(terms) : std::pow(sum(terms), 1 / p);
}

double log_sum_exp(const std::vector<double>& values) {
  if (values.empty()) return -std::numeric_limits<double>::infinity();
  const double top = largest(values);
  if (!std::isfinite(top)) return top;
  double total = 0;
  for (const double value : values) total += std::exp(value - top);
  return top + std::log(total);
}

double any(const std::vector<double>& values) {
  for (const double value : values)
    if (value != 0) return 1;
  return 0;
}

double all(const std::vector<double>& values) {
  for (const double value : values)
    if (value == 0) return 0;
  return 1;
}

std::vector<double> running(const std::vector<double>& x, const Shape& shape, int axis,
                            const std::function<double(double, double)>& combine, bool reverse) {
  std::vector<double> y = x;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t n = shape[axis], step = reverse ? -inner : inner;
  for (std::int64_t at = 0; at < shape.numel(); ++at) {
    // The elements of a line are visited from its beginning.
    const std::int64_t line = at / n / inner * n * inner + at % inner, j = at / inner % n;
    const std::int64_t place = line + (reverse ? n - 1 - j : j) * inner;
    double& value = y[static_cast<std::size_t>(place)];
    if (j > 0) value = combine(y[static_cast<std::size_t>(place - step)], value);
  }
  return y;
}

std::vector<double> reduction_gradient(const std::vector<double>& x, const Shape& shape, const Shape& axes,
                                       const std::vector<double>& dy,
                                       const std::function<double(const std::vector<double>&)>& y) {
  constexpr double step = 1e-5;
  const std::vector<std::int64_t> outputs = reduction_outputs(shape, axes);
  std::vector<std::vector<double>> groups = reduction_groups(x, shape, axes);
  std::vector<std::size_t> next(groups.size(), 0);
  std::vector<double> gradient;
  for (const std::int64_t o : outputs) {
    std::vector<double>& group = groups[static_cast<std::size_t>(o)];
    double& value = group[next[static_cast<std::size_t>(o)]++];
    const double kept = value;
    value = kept + step;
    const double above = y(group);
    value = kept - step;
    const double below = y(group);
    value = kept;
    gradient.push_back(dy[static_cast<std::size_t>(o)] * (above - below) / (2 * step));
  }
  return gradient;
}

}  // namespace crisol::reference
