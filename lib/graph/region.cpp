#include "graph/region.h"

#include "crisol/functions/index.h"

namespace crisol::graph {

std::optional<Region> Region::of(const Tensor& x, const Tensor& whole) {
  if (!whole.is_contiguous()) return {};
  Region region;
  region.shape_of_x_ = x.shape();
  region.shape_ = whole.shape();
  std::int64_t distance = x.offset() - whole.offset();
  if (x.is_contiguous() && distance == 0 && x.numel() == whole.numel()) return region;
  int next = 0;  // The axis of x that comes next.
  const auto skip_ones = [&] {
    while (next < x.dim() && x.size(next) == 1) ++next;
  };
  for (int axis = 0; axis < whole.dim(); ++axis) {
    skip_ones();
    const std::int64_t size = whole.size(axis), stride = whole.strides()[axis];
    Cut cut{axis, size == 1 ? 0 : distance / stride, 1, 1};
    if (size > 1) distance %= stride;
    if (next < x.dim() && size > 1 && x.strides()[next] % stride == 0) {
      cut.step = x.strides()[next] / stride;
      cut.count = x.size(next++);
    }
    if (cut.step < 1 || cut.first < 0 || cut.first + (cut.count - 1) * cut.step >= size) return {};
    if (cut.count != size) region.cuts_.push_back(cut);
    region.shape_[axis] = cut.count;
  }
  skip_ones();
  if (next < x.dim() || distance != 0) return {};
  return region;
}

Tensor Region::positions(const Cut& cut, Device device) {
  return arange(static_cast<double>(cut.first), static_cast<double>(cut.first + cut.count * cut.step),
                static_cast<double>(cut.step), DType::i64, device);
}

Tensor Region::take(const Tensor& whole) const {
  Tensor y = whole;
  for (const Cut& cut : cuts_) y = index_select(y, cut.axis, positions(cut, y.device()));
  return y.reshape(shape_of_x_);
}

Tensor Region::replace(const Tensor& whole, const Tensor& y) const {
  if (y.numel() == 0) return whole;
  return replace_from(0, whole, y.reshape(shape_));
}

Tensor Region::replace_from(std::size_t cut, const Tensor& whole, const Tensor& y) const {
  if (cut == cuts_.size()) return y;
  const Tensor at = positions(cuts_[cut], whole.device());
  const int axis = cuts_[cut].axis;
  if (cut + 1 == cuts_.size()) return index_copy(whole, axis, at, y);
  return index_copy(whole, axis, at, replace_from(cut + 1, index_select(whole, axis, at), y));
}

}  // namespace crisol::graph
