#include "reference/images/pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/images/volumes.h"

namespace crisol::reference {

namespace {

IntTriple step_of(IntTriple stride, IntTriple kernel) { return stride == IntTriple(0) ? kernel : stride; }

MaxPool3dOptions volume_of(const MaxPool2dOptions& o) {
  const IntPair step = o.stride == IntPair(0) ? o.kernel : o.stride;
  return {{1, o.kernel.h, o.kernel.w},
          {1, step.h, step.w},
          {0, o.padding.h, o.padding.w},
          {1, o.dilation.h, o.dilation.w},
          o.ceil_mode};
}

AvgPool3dOptions volume_of(const AvgPool2dOptions& o) {
  const IntPair step = o.stride == IntPair(0) ? o.kernel : o.stride;
  return {{1, o.kernel.h, o.kernel.w},   {1, step.h, step.w},
          {0, o.padding.h, o.padding.w}, o.ceil_mode,
          o.count_include_pad,           o.divisor};
}

// Along an axis: a window covers the elements first … last-1, and counts `count` elements.
struct Range {
  std::int64_t first, last, count;
};

using Ranges = std::array<std::vector<Range>, 3>;  // For each axis, the ranges of all windows.

// PyTorch's rule: a window ends at the end of the padding at the latest, and is then clipped to the input.
std::vector<Range> fixed_ranges(std::int64_t size, int kernel, int step, int padding, const AvgPool3dOptions& o) {
  std::vector<Range> ranges;
  for (std::int64_t i = 0; i < pool_count(size, kernel, step, padding, 1, o.ceil_mode); ++i) {
    const std::int64_t begin = i * step - padding, end = std::min(begin + kernel, size + padding);
    const std::int64_t first = std::max<std::int64_t>(begin, 0), last = std::min(end, size);
    ranges.push_back({first, last, o.count_include_pad ? end - begin : last - first});
  }
  return ranges;
}

std::vector<Range> adaptive_ranges(std::int64_t size, std::int64_t outputs) {
  std::vector<Range> ranges;
  for (std::int64_t i = 0; i < outputs; ++i) {
    const std::int64_t first = i * size / outputs, last = ((i + 1) * size + outputs - 1) / outputs;
    ranges.push_back({first, last, last - first});
  }
  return ranges;
}

Ranges fixed_ranges(const Shape& input, const AvgPool3dOptions& o) {
  const IntTriple step = step_of(o.stride, o.kernel);
  return {fixed_ranges(input[2], o.kernel.d, step.d, o.padding.d, o),
          fixed_ranges(input[3], o.kernel.h, step.h, o.padding.h, o),
          fixed_ranges(input[4], o.kernel.w, step.w, o.padding.w, o)};
}

Ranges adaptive_ranges(const Shape& input, IntTriple output) {
  return {adaptive_ranges(input[2], output.d), adaptive_ranges(input[3], output.h),
          adaptive_ranges(input[4], output.w)};
}

// Calls visit(element of x, output, divisor of the window's sum) for every element of every window. With a `divisor` of
// 0, the sum is divided by the number of elements in the window.
template <class Visit>
void for_each_cell(const Shape& input, const Ranges& ranges, int divisor, Visit&& visit) {
  std::size_t output = 0;
  for (std::int64_t volume = 0; volume < input[0] * input[1]; ++volume)
    for (const Range& slices : ranges[0])
      for (const Range& rows : ranges[1])
        for (const Range& columns : ranges[2]) {
          const std::int64_t count = divisor != 0 ? divisor : slices.count * rows.count * columns.count;
          for (std::int64_t d = slices.first; d < slices.last; ++d)
            for (std::int64_t h = rows.first; h < rows.last; ++h)
              for (std::int64_t w = columns.first; w < columns.last; ++w)
                visit(static_cast<std::size_t>(((volume * input[2] + d) * input[3] + h) * input[4] + w), output,
                      static_cast<double>(count));
          ++output;
        }
}

AvgPool average(const std::vector<double>& x, const Shape& input, const Ranges& ranges, int divisor) {
  AvgPool y{{input[0], input[1]}, {}};
  for (const std::vector<Range>& axis : ranges) y.shape.push_back(static_cast<std::int64_t>(axis.size()));
  y.values.resize(static_cast<std::size_t>(y.shape.numel()));
  for_each_cell(input, ranges, divisor,
                [&](std::size_t element, std::size_t output, double count) { y.values[output] += x[element] / count; });
  return y;
}

std::vector<double> spread(const std::vector<double>& dy, const Shape& input, const Ranges& ranges, int divisor) {
  std::vector<double> dx(static_cast<std::size_t>(input.numel()), 0.0);
  for_each_cell(input, ranges, divisor,
                [&](std::size_t element, std::size_t output, double count) { dx[element] += dy[output] / count; });
  return dx;
}

AvgPool images_of(AvgPool volumes) {
  volumes.shape = reference::images_of(volumes.shape);
  return volumes;
}

// The largest element of the window that begins at (d, h, w), and its position in the volume. x points to the
// volume.
std::pair<double, std::int64_t> largest(const double* x, const Shape& shape, const MaxPool3dOptions& o, std::int64_t d0,
                                        std::int64_t h0, std::int64_t w0) {
  double best = -std::numeric_limits<double>::infinity();
  std::int64_t at = -1;
  const auto inside = [](std::int64_t i, std::int64_t size) { return i >= 0 && i < size; };
  for (std::int64_t d = d0; d < d0 + o.kernel.d * o.dilation.d; d += o.dilation.d)
    for (std::int64_t h = h0; h < h0 + o.kernel.h * o.dilation.h; h += o.dilation.h)
      for (std::int64_t w = w0; w < w0 + o.kernel.w * o.dilation.w; w += o.dilation.w) {
        if (!inside(d, shape[2]) || !inside(h, shape[3]) || !inside(w, shape[4])) continue;
        const std::int64_t position = (d * shape[3] + h) * shape[4] + w;
        if (at >= 0 && !(x[position] > best) && !std::isnan(x[position])) continue;
        best = x[position];
        at = position;
      }
  return {best, at};
}

}  // namespace

std::int64_t pool_count(std::int64_t size, int kernel, int stride, int padding, int dilation, bool ceil_mode) {
  std::int64_t count = 0;
  // Places windows one after another, as long as they fit. With ceil_mode a window must only start inside of the input
  // or its left padding.
  for (std::int64_t start = -padding;; start += stride) {
    const bool fits = start + dilation * (kernel - 1) < size + padding;
    const bool reaches = start - stride + dilation * (kernel - 1) < size + padding - 1 && start < size;
    if (!fits && !(ceil_mode && reaches && count > 0)) return count;
    ++count;
  }
}

MaxPool max_pool3d(const std::vector<double>& x, const Shape& shape, const MaxPool3dOptions& o) {
  const IntTriple step = step_of(o.stride, o.kernel);
  MaxPool result;
  result.shape = {shape[0], shape[1], pool_count(shape[2], o.kernel.d, step.d, o.padding.d, o.dilation.d, o.ceil_mode),
                  pool_count(shape[3], o.kernel.h, step.h, o.padding.h, o.dilation.h, o.ceil_mode),
                  pool_count(shape[4], o.kernel.w, step.w, o.padding.w, o.dilation.w, o.ceil_mode)};
  const std::int64_t elements = shape[2] * shape[3] * shape[4];
  for (std::int64_t volume = 0; volume < shape[0] * shape[1]; ++volume)
    for (std::int64_t i = 0; i < result.shape[2]; ++i)
      for (std::int64_t j = 0; j < result.shape[3]; ++j)
        for (std::int64_t k = 0; k < result.shape[4]; ++k) {
          const auto [best, at] = largest(x.data() + volume * elements, shape, o, i * step.d - o.padding.d,
                                          j * step.h - o.padding.h, k * step.w - o.padding.w);
          result.values.push_back(best);
          result.indices.push_back(static_cast<double>(at));
        }
  return result;
}

MaxPool max_pool2d(const std::vector<double>& x, const Shape& shape, const MaxPool2dOptions& options) {
  MaxPool result = max_pool3d(x, volume_of(shape), volume_of(options));
  result.shape = images_of(result.shape);
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

AvgPool avg_pool3d(const std::vector<double>& x, const Shape& shape, const AvgPool3dOptions& options) {
  return average(x, shape, fixed_ranges(shape, options), options.divisor);
}

std::vector<double> avg_pool3d_backward(const std::vector<double>& dy, const Shape& input,
                                        const AvgPool3dOptions& options) {
  return spread(dy, input, fixed_ranges(input, options), options.divisor);
}

AvgPool adaptive_avg_pool3d(const std::vector<double>& x, const Shape& shape, IntTriple output) {
  return average(x, shape, adaptive_ranges(shape, output), 0);
}

AvgPool avg_pool2d(const std::vector<double>& x, const Shape& shape, const AvgPool2dOptions& options) {
  return images_of(avg_pool3d(x, volume_of(shape), volume_of(options)));
}

std::vector<double> avg_pool2d_backward(const std::vector<double>& dy, const Shape& input,
                                        const AvgPool2dOptions& options) {
  return avg_pool3d_backward(dy, volume_of(input), volume_of(options));
}

AvgPool adaptive_avg_pool2d(const std::vector<double>& x, const Shape& shape, IntPair output) {
  return images_of(adaptive_avg_pool3d(x, volume_of(shape), {1, output.h, output.w}));
}

std::vector<double> adaptive_avg_pool2d_backward(const std::vector<double>& dy, const Shape& input, IntPair output) {
  const Shape volume = volume_of(input);
  return spread(dy, volume, adaptive_ranges(volume, {1, output.h, output.w}), 0);
}

}  // namespace crisol::reference
