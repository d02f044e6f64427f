// Padding with a constant; negative padding crops.
#include "crisol/ops/pad.h"

#include <algorithm>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "ops/contiguous.h"
#include "ops/result.h"

namespace crisol::ops {

namespace {

Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value, const Tensor* into) {
  require(static_cast<int>(paddings.size()) <= x.dim(), "pad", paddings.size(), " pairs for shape ", x.shape(),
          " of rank ", x.dim());
  constexpr std::int64_t most = std::int64_t{1} << 61;  // The sum of three paddings is below 2^63.
  Shape shape = x.shape();
  bool grows = false;
  int axis = x.dim();
  for (const AxisPadding& padding : paddings) {
    --axis;
    for (const std::int64_t count : {padding.before, padding.after})
      require(count >= -most && count <= most, "pad", "padding ", count, " of axis ", axis, " is beyond 2^61");
    const std::int64_t cut = std::max<std::int64_t>(-padding.before, 0) + std::max<std::int64_t>(-padding.after, 0);
    require(cut <= x.size(axis), "pad", "(", padding.before, ", ", padding.after, ") cuts off ", cut,
            " elements, axis ", axis, " of shape ", x.shape(), " has ", x.size(axis));
    shape[axis] += padding.before + padding.after;
    grows = grows || padding.before > 0 || padding.after > 0;
  }
  Result result("pad", into, shape, x.dtype(), x.device(), {&x}, Result::Layout::any);
  Tensor from = x;
  Tensor to = result.place();
  axis = x.dim();
  for (const AxisPadding& padding : paddings) {
    --axis;
    const std::int64_t cut_before = std::max<std::int64_t>(-padding.before, 0);
    const std::int64_t kept = x.size(axis) - cut_before - std::max<std::int64_t>(-padding.after, 0);
    from = narrow(from, axis, cut_before, kept);
    to = narrow(to, axis, std::max<std::int64_t>(padding.before, 0), kept);
  }
  const auto copy = prepare_copy(to, from);
  if (grows) fill_into(result.place(), value);
  copy();
  return result.done();
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value) {
  return pad(x, paddings, value, nullptr);
}
void pad_into(const Tensor& y, const Tensor& x, const std::vector<AxisPadding>& paddings, double value) {
  pad(x, paddings, value, &y);
}

}  // namespace crisol::ops
