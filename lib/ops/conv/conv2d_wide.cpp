#include "ops/conv/conv2d_wide.h"

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

/// The windows of a padded image as a view (N, C, R, S, OH, OW), in which windows share elements.
Tensor windows_of(const Tensor& padded, const Conv2dSizes& s) {
  const Shape& at = padded.strides();
  return make_view(padded, {s.images, s.channels, s.kernel_h, s.kernel_w, s.out_h, s.out_w},
                   {at[0], at[1], at[2] * s.dilation_h, at[3] * s.dilation_w, at[2] * s.stride_h, at[3] * s.stride_w},
                   padded.offset());
}

/// The windows as the columns of matrices (N, groups, C/groups R S, OH OW).
Tensor columns_of(const Tensor& x, const Conv2dSizes& s) {
  const Tensor padded = pad(x, {{s.pad_w, s.pad_w}, {s.pad_h, s.pad_h}});
  return reshape(contiguous(windows_of(padded, s)), {s.images, s.groups, s.depth(), s.pixels()});
}

/// The weight as matrices (groups, K/groups, C/groups R S).
Tensor filters_of(const Tensor& weight, const Conv2dSizes& s) {
  return reshape(contiguous(weight), {s.groups, s.group_outputs(), s.depth()});
}

/// An output, or its gradient, as matrices (N, groups, K/groups, OH OW).
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
  // At one tap, the windows share no elements.
  for (std::int64_t r = 0; r < s.kernel_h; ++r)
    for (std::int64_t c = 0; c < s.kernel_w; ++c)
      accumulate_into(select(select(to, 3, c), 2, r), select(select(parts, 3, c), 2, r));
  return narrow(narrow(dx, 2, s.pad_h, s.height), 3, s.pad_w, s.width);
}

Tensor wide_conv2d_backward_weight(const Conv2dSizes& s, const Tensor& dy, const Tensor& x) {
  const Tensor products = matmul(rows_of(dy, s), transpose(columns_of(x, s), 2, 3));
  return reshape(sum(products, {0}), {s.outputs, s.group_channels(), s.kernel_h, s.kernel_w});
}

}  // namespace crisol::ops
