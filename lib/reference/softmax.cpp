#include "reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace crisol::reference {

namespace {

// Calls row(index) for each row; index(j) is the position of its element j.
template <class Row>
void for_each_row(std::int64_t outer, std::int64_t n, std::int64_t inner, Row row) {
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i)
      row([=](std::int64_t j) { return static_cast<std::size_t>((o * n + j) * inner + i); });
}

}  // namespace

Numbers softmax(const Numbers& x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  Numbers y = log_softmax(x, outer, n, inner);
  for (double& value : y) value = std::exp(value);
  return y;
}

Numbers log_softmax(const Numbers& x, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  Numbers y(x.size());
  for_each_row(outer, n, inner, [&](auto at) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < n; ++j) highest = std::max(highest, x[at(j)]);
    for (std::int64_t j = 0; j < n; ++j) sum += std::exp(x[at(j)] - highest);
    for (std::int64_t j = 0; j < n; ++j) y[at(j)] = x[at(j)] - highest - std::log(sum);
  });
  return y;
}

Numbers softmax_backward(const Numbers& dy, const Numbers& y, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  Numbers dx(y.size());
  for_each_row(outer, n, inner, [&](auto at) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += dy[at(j)] * y[at(j)];
    for (std::int64_t j = 0; j < n; ++j) dx[at(j)] = y[at(j)] * (dy[at(j)] - sum);
  });
  return dx;
}

Numbers log_softmax_backward(const Numbers& dy, const Numbers& y, std::int64_t outer, std::int64_t n,
                             std::int64_t inner) {
  Numbers dx(y.size());
  for_each_row(outer, n, inner, [&](auto at) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += dy[at(j)];
    for (std::int64_t j = 0; j < n; ++j) dx[at(j)] = dy[at(j)] - std::exp(y[at(j)]) * sum;
  });
  return dx;
}

Numbers attention(const Numbers& q, const Numbers& k, const Numbers& v, const Numbers& bias,
                  const AttentionSizes& sizes, double scale) {
  const auto [heads, rows, keys, depth, columns] = sizes;
  const auto at = [](const Numbers& x, std::int64_t place) { return x[static_cast<std::size_t>(place)]; };
  Numbers y;
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t i = 0; i < rows; ++i) {
      Numbers scores;
      for (std::int64_t j = 0; j < keys; ++j) {
        double product = 0;
        for (std::int64_t d = 0; d < depth; ++d)
          product += at(q, (head * rows + i) * depth + d) * at(k, (head * keys + j) * depth + d);
        scores.push_back(scale * product + at(bias, (head * rows + i) * keys + j));
      }
      const bool sees_none = std::all_of(scores.begin(), scores.end(),
                                         [](double s) { return s == -std::numeric_limits<double>::infinity(); });
      const Numbers weights = sees_none ? Numbers(scores.size(), 0) : softmax(scores, 1, keys, 1);
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) sum += at(weights, j) * at(v, (head * keys + j) * columns + c);
        y.push_back(sum);
      }
    }
  return y;
}

}  // namespace crisol::reference
