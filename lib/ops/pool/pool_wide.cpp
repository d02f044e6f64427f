#include "ops/pool/pool_wide.h"

#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/numbers.h"
#include "ops/windows.h"

namespace crisol::ops {

namespace {

/// The padding of an axis. With ceil_mode, the last window may extend beyond the usual padding.
AxisPadding padding_of(std::int64_t size, std::int64_t count, std::int64_t kernel, std::int64_t stride,
                       std::int64_t pad, std::int64_t dilation) {
  const std::int64_t end = (count - 1) * stride - pad + dilation * (kernel - 1) + 1;
  return {pad, std::max<std::int64_t>(0, end - size)};
}

AxisPadding rows_of(const PoolGeometry& g) {
  return padding_of(g.height, g.out_h, g.kernel_h, g.stride_h, g.pad_h, g.dilation_h);
}
AxisPadding columns_of(const PoolGeometry& g) {
  return padding_of(g.width, g.out_w, g.kernel_w, g.stride_w, g.pad_w, g.dilation_w);
}

/// The positions along an axis that the taps of the windows have. A tap in the padding gets the position at the border.
Tensor places(const Tensor& taps, int axis, std::int64_t stride, std::int64_t pad, std::int64_t dilation,
              std::int64_t size) {
  Shape along{1, 1, 1, 1};
  along[axis] = taps.size(axis);
  const Tensor starts = reshape(arange(0, static_cast<double>(taps.size(axis)), 1, DType::i64, taps.device()), along);
  return clamp(add(mul(taps, dilation), sub(mul(starts, stride), pad)), 0, size - 1);
}

/// The divisors of the windows along an axis: the numbers of their elements.
std::vector<double> counts_of(std::int64_t size, std::int64_t count, std::int64_t kernel, std::int64_t stride,
                              std::int64_t pad, bool include_pad) {
  std::vector<double> counts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = i * stride - pad, end = std::min(begin + kernel, size + pad);
    counts.push_back(
        static_cast<double>(include_pad ? end - begin : std::min(end, size) - std::max<std::int64_t>(begin, 0)));
  }
  return counts;
}

/// Quotients, of whole numbers without their fractions, as C++ divides them.
template <class Divisor>
Tensor quotients(const Tensor& sums, const Divisor& by) {
  return is_floating(sums.dtype()) ? div(sums, by) : floor_divide(sub(sums, fmod(sums, by)), by);
}

Tensor divided(const PoolGeometry& g, const Tensor& sums, const PoolDivisor& by) {
  if (by.divisor != 0) return quotients(sums, by.divisor);
  const std::vector<double> rows = counts_of(g.height, g.out_h, g.kernel_h, g.stride_h, g.pad_h, by.include_pad),
                            columns = counts_of(g.width, g.out_w, g.kernel_w, g.stride_w, g.pad_w, by.include_pad);
  const Tensor heights = from_vector(rows, {g.out_h, 1}, sums.dtype(), sums.device()),
               widths = from_vector(columns, {g.out_w}, sums.dtype(), sums.device());
  return quotients(sums, mul(heights, widths));
}

/// Window i of `count` windows that divide an axis of a size.
std::pair<std::int64_t, std::int64_t> part(std::int64_t i, std::int64_t count, std::int64_t size) {
  return {i * size / count, ceil_div((i + 1) * size, count)};
}

Tensor means_along(const Tensor& x, int axis, std::int64_t count) {
  std::vector<Tensor> means;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [begin, end] = part(i, count, x.size(axis));
    means.push_back(mean(narrow(x, axis, begin, end - begin), {axis}, true));
  }
  return cat(means, axis);
}

Tensor means_along_backward(const Tensor& dy, int axis, std::int64_t size) {
  Shape shape = dy.shape();
  shape[axis] = size;
  const Tensor dx = zeros(shape, dy.dtype(), dy.device());
  for (std::int64_t i = 0; i < dy.size(axis); ++i) {
    const auto [begin, end] = part(i, dy.size(axis), size);
    const Tensor to = narrow(dx, axis, begin, end - begin);
    const Tensor share = div(narrow(dy, axis, i, 1), static_cast<double>(end - begin));
    accumulate_into(to, expand(share, to.shape()));
  }
  return dx;
}

}  // namespace

MaxPool2dResult wide_max_pool2d(const PoolGeometry& g, const Tensor& x) {
  const Tensor padded = pad(x, {columns_of(g), rows_of(g)}, lowest_of(x.dtype()));
  const Tensor windows =
      reshape(contiguous(windows_of(padded, g)), {x.size(0), x.size(1), g.window(), g.out_h, g.out_w});
  const ExtremeResult result = max_with_indices(windows, 2);
  const Tensor row = floor_divide(result.indices, g.kernel_w), column = remainder(result.indices, g.kernel_w);
  const Tensor position = add(mul(places(row, 2, g.stride_h, g.pad_h, g.dilation_h, g.height), g.width),
                              places(column, 3, g.stride_w, g.pad_w, g.dilation_w, g.width));
  return {result.values, cast(position, DType::i32)};
}

Tensor wide_max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& shape) {
  const std::int64_t planes = shape[0] * shape[1], plane = shape[2] * shape[3], windows = dy.size(2) * dy.size(3);
  const Tensor places = reshape(contiguous(indices), {planes, windows}),
               is_inside = logical_and(ge(places, 0), lt(places, plane));
  const Tensor dx = scatter_add(zeros({planes, plane}, dy.dtype(), dy.device()), 1, where(is_inside, places, 0),
                                where(is_inside, reshape(contiguous(dy), {planes, windows}), 0));
  return reshape(dx, shape);
}

Tensor wide_avg_pool2d(const PoolGeometry& g, const Tensor& x, const PoolDivisor& divisor) {
  const Tensor sums = sum(contiguous(windows_of(pad(x, {columns_of(g), rows_of(g)}), g)), {2, 3});
  return cast(divided(g, sums, divisor), x.dtype());
}

Tensor wide_avg_pool2d_backward(const PoolGeometry& g, const Tensor& dy, const Shape& shape,
                                const PoolDivisor& divisor) {
  const AxisPadding rows = rows_of(g), columns = columns_of(g);
  const Tensor dx =
      zeros({shape[0], shape[1], rows.before + g.height + rows.after, columns.before + g.width + columns.after},
            dy.dtype(), dy.device());
  const Tensor shares = divided(g, dy, divisor);
  add_to_windows(windows_of(dx, g), [&](std::int64_t, std::int64_t) { return shares; });
  return narrow(narrow(dx, 2, rows.before, g.height), 3, columns.before, g.width);
}

Tensor wide_adaptive_avg_pool2d(const Tensor& x, const Shape& shape) {
  return means_along(means_along(x, 2, shape[2]), 3, shape[3]);
}

Tensor wide_adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& shape) {
  return means_along_backward(means_along_backward(dy, 3, shape[3]), 2, shape[2]);
}

}  // namespace crisol::ops
