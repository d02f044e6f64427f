#include "ops/conv/conv2d_wide.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "ops/windows.h"

namespace crisol::ops {

namespace {

/// The windows as the columns of matrices (N, groups, C/groups R S, OH OW).
Tensor columns_of(const Tensor& x, const Conv2dSizes& s) {
  const Tensor padded = pad(x, {{s.pad_w, s.pad_w}, {s.pad_h, s.pad_h}});
  return reshape(contiguous(windows_of(padded, s)), {s.images, s.groups, s.depth(), s.pixels()});
}

/// The weight as matrices (groups, K/groups, C/groups R S).
Tensor filters_of(const Tensor& weight, const Conv2dSizes& s) {
  return reshape(contiguous(weight), {s.groups, s.group_outputs(), s.depth()});
}

/// An output as matrices (N, groups, K/groups, OH OW). The gradient of an output becomes the same.
Tensor rows_of(const Tensor& y, const Conv2dSizes& s) {
  return reshape(contiguous(y), {s.images, s.groups, s.group_outputs(), s.pixels()});
}

}  // namespace

Tensor wide_conv2d(const Conv2dSizes& s, const Tensor& x, const Tensor& weight) {
  return reshape(matmul(filters_of(weight, s), columns_of(x, s)), s.output_shape());
}

Tensor wide_conv2d_backward_data(const Conv2dSizes& s, const Tensor& dy, const Tensor& weight) {
  const Tensor columns = matmul(transpose(filters_of(weight, s), 1, 2), rows_of(dy, s));
  const Tensor dx =
      zeros({s.images, s.channels, s.height + 2 * s.pad_h, s.width + 2 * s.pad_w}, dy.dtype(), dy.device());
  const Tensor to = windows_of(dx, s), parts = reshape(columns, to.shape());
  add_to_windows(to, [&](std::int64_t r, std::int64_t c) { return select(select(parts, 3, c), 2, r); });
  return narrow(narrow(dx, 2, s.pad_h, s.height), 3, s.pad_w, s.width);
}

Tensor wide_conv2d_backward_weight(const Conv2dSizes& s, const Tensor& dy, const Tensor& x) {
  const Tensor products = matmul(rows_of(dy, s), transpose(columns_of(x, s), 2, 3));
  return reshape(sum(products, {0}), {s.outputs, s.group_channels(), s.kernel_h, s.kernel_w});
}

}  // namespace crisol::ops
