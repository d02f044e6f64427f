#include "reference/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace crisol::reference {

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

// An input element in the window of an output, and the divisor of the window's sum.
struct Cell {
  std::int64_t input, output;
  double divisor;
};

// Calls visit for every input element of every window.
template <class WindowOf, class Visit>
void for_each_cell(const Shape& input, std::int64_t out_h, std::int64_t out_w, WindowOf&& window_of, Visit&& visit) {
  for (std::int64_t plane = 0; plane < input[0] * input[1]; ++plane)
    for (std::int64_t oh = 0; oh < out_h; ++oh)
      for (std::int64_t ow = 0; ow < out_w; ++ow) {
        const auto [rows, columns, divisor] = window_of(oh, ow);
        for (std::int64_t h = rows.first; h < rows.second; ++h)
          for (std::int64_t w = columns.first; w < columns.second; ++w)
            visit(Cell{(plane * input[2] + h) * input[3] + w, (plane * out_h + oh) * out_w + ow, divisor});
      }
}

struct Window {
  Range rows, columns;
  double divisor;
};

IntPair stride_of(IntPair stride, IntPair kernel) { return stride == IntPair(0) ? kernel : stride; }

// PyTorch's rule: the window ends at the end of the padding, then it is clipped to the input.
Window fixed_window(std::int64_t oh, std::int64_t ow, const Shape& input, const AvgPool2dOptions& o) {
  const IntPair stride = stride_of(o.stride, o.kernel);
  const auto range = [](std::int64_t i, int step, int pad, int kernel, std::int64_t size) {
    const std::int64_t begin = i * step - pad;
    return Range{begin, std::min(begin + kernel, size + pad)};
  };
  const auto cut = [](Range r, std::int64_t size) {
    return Range{std::max<std::int64_t>(r.first, 0), std::min(r.second, size)};
  };
  const auto elements = [](Range r, Range c) {
    return static_cast<double>((r.second - r.first) * (c.second - c.first));
  };
  const Range rows = range(oh, stride.h, o.padding.h, o.kernel.h, input[2]);
  const Range columns = range(ow, stride.w, o.padding.w, o.kernel.w, input[3]);
  const Range inner_rows = cut(rows, input[2]);
  const Range inner_columns = cut(columns, input[3]);
  double divisor = o.count_include_pad ? elements(rows, columns) : elements(inner_rows, inner_columns);
  if (o.divisor != 0) divisor = o.divisor;
  return {inner_rows, inner_columns, divisor};
}

Window adaptive_window(std::int64_t oh, std::int64_t ow, const Shape& input, IntPair output) {
  const auto range = [](std::int64_t i, std::int64_t size, std::int64_t out) {
    return Range{i * size / out, ((i + 1) * size + out - 1) / out};
  };
  const Range rows = range(oh, input[2], output.h);
  const Range columns = range(ow, input[3], output.w);
  return {rows, columns, static_cast<double>((rows.second - rows.first) * (columns.second - columns.first))};
}

Shape avg_shape(const Shape& input, const AvgPool2dOptions& o) {
  const IntPair stride = stride_of(o.stride, o.kernel);
  return {input[0], input[1], pool_count(input[2], o.kernel.h, stride.h, o.padding.h, 1, o.ceil_mode),
          pool_count(input[3], o.kernel.w, stride.w, o.padding.w, 1, o.ceil_mode)};
}

template <class WindowOf>
std::vector<double> average(const std::vector<double>& x, const Shape& input, const Shape& output,
                            WindowOf&& window_of) {
  std::vector<double> y(static_cast<std::size_t>(output.numel()), 0.0);
  for_each_cell(input, output[2], output[3], window_of, [&](const Cell& cell) {
    y[static_cast<std::size_t>(cell.output)] += x[static_cast<std::size_t>(cell.input)] / cell.divisor;
  });
  return y;
}

template <class WindowOf>
std::vector<double> spread(const std::vector<double>& dy, const Shape& input, const Shape& output,
                           WindowOf&& window_of) {
  std::vector<double> dx(static_cast<std::size_t>(input.numel()), 0.0);
  for_each_cell(input, output[2], output[3], window_of, [&](const Cell& cell) {
    dx[static_cast<std::size_t>(cell.input)] += dy[static_cast<std::size_t>(cell.output)] / cell.divisor;
  });
  return dx;
}

}  // namespace

std::int64_t pool_count(std::int64_t size, int kernel, int stride, int padding, int dilation, bool ceil_mode) {
  std::int64_t count = 0;
  // Places one window after another as long as it fits. With ceil_mode a window must only start inside of the input or
  // its left padding.
  for (std::int64_t start = -padding;; start += stride) {
    const bool fits = start + dilation * (kernel - 1) < size + padding;
    const bool reaches = start - stride + dilation * (kernel - 1) < size + padding - 1 && start < size;
    if (!fits && !(ceil_mode && reaches && count > 0)) return count;
    ++count;
  }
}

MaxPool max_pool2d(const std::vector<double>& x, const Shape& shape, const MaxPool2dOptions& o) {
  const IntPair stride = stride_of(o.stride, o.kernel);
  MaxPool result;
  result.shape = {shape[0], shape[1],
                  pool_count(shape[2], o.kernel.h, stride.h, o.padding.h, o.dilation.h, o.ceil_mode),
                  pool_count(shape[3], o.kernel.w, stride.w, o.padding.w, o.dilation.w, o.ceil_mode)};
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (std::int64_t oh = 0; oh < result.shape[2]; ++oh)
      for (std::int64_t ow = 0; ow < result.shape[3]; ++ow) {
        double best = -std::numeric_limits<double>::infinity();
        std::int64_t at = -1;
        for (std::int64_t r = 0; r < o.kernel.h; ++r)
          for (std::int64_t s = 0; s < o.kernel.w; ++s) {
            const std::int64_t h = oh * stride.h - o.padding.h + r * o.dilation.h;
            const std::int64_t w = ow * stride.w - o.padding.w + s * o.dilation.w;
            if (h < 0 || h >= shape[2] || w < 0 || w >= shape[3]) continue;
            const double value = x[static_cast<std::size_t>((plane * shape[2] + h) * shape[3] + w)];
            if (at >= 0 && !(value > best) && !std::isnan(value)) continue;
            best = value;
            at = h * shape[3] + w;
          }
        result.values.push_back(best);
        result.indices.push_back(static_cast<double>(at));
      }
  return result;
}

std::vector<double> max_pool2d_backward(const std::vector<double>& dy, const MaxPool& forward, const Shape& input) {
  std::vector<double> dx(static_cast<std::size_t>(input.numel()), 0.0);
  const std::int64_t out_area = forward.shape[2] * forward.shape[3];
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::int64_t plane = static_cast<std::int64_t>(i) / out_area;
    dx[static_cast<std::size_t>(plane * input[2] * input[3]) + static_cast<std::size_t>(forward.indices[i])] += dy[i];
  }
  return dx;
}

AvgPool avg_pool2d(const std::vector<double>& x, const Shape& shape, const AvgPool2dOptions& options) {
  const Shape output = avg_shape(shape, options);
  return {output, average(x, shape, output,
                          [&](std::int64_t oh, std::int64_t ow) { return fixed_window(oh, ow, shape, options); })};
}

std::vector<double> avg_pool2d_backward(const std::vector<double>& dy, const Shape& input,
                                        const AvgPool2dOptions& options) {
  return spread(dy, input, avg_shape(input, options),
                [&](std::int64_t oh, std::int64_t ow) { return fixed_window(oh, ow, input, options); });
}

AvgPool adaptive_avg_pool2d(const std::vector<double>& x, const Shape& shape, IntPair output) {
  const Shape result{shape[0], shape[1], output.h, output.w};
  return {result, average(x, shape, result,
                          [&](std::int64_t oh, std::int64_t ow) { return adaptive_window(oh, ow, shape, output); })};
}

std::vector<double> adaptive_avg_pool2d_backward(const std::vector<double>& dy, const Shape& input, IntPair output) {
  return spread(dy, input, {input[0], input[1], output.h, output.w},
                [&](std::int64_t oh, std::int64_t ow) { return adaptive_window(oh, ow, input, output); });
}

}  // namespace crisol::reference
