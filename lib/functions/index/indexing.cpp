// x[…]. Reading gives a view, or a copy if no view can have the elements. Assigning to the result writes to x.
#include "crisol/indexing.h"

#include <algorithm>
#include <array>
#include <vector>

#include "autograd/call.h"
#include "autograd/in_place.h"
#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/index.h"
#include "crisol/ops/copy.h"
#include "functions/gradients.h"
#include "functions/traced/traced.h"
#include "ops/fixed_list.h"

namespace crisol {

using autograd::call;

namespace {

constexpr const char* op = "index";

// The axes of the result of an index, without strides. Steps are positive here.
struct Parts {
  struct Axis {
    int of_tensor;  ///< The tensor's axis, or -1 for a new axis.
    std::int64_t step, size;
  };

  std::vector<Axis> axes;
  std::array<std::int64_t, Shape::max_rank> first{};  ///< The lowest position that is read along each axis.
  Shape flipped;                                      ///< Axes of the view that are read in reverse order.
  std::vector<Tensor> picks;                          ///< The indices of index_get on the view, or none.

  Tensor view_of(const Tensor& x) const {
    Shape shape, strides;
    std::int64_t offset = x.offset();
    for (int axis = 0; axis < x.dim(); ++axis) offset += first[static_cast<std::size_t>(axis)] * x.strides()[axis];
    for (const Axis& axis : axes) {
      shape.push_back(axis.size);
      strides.push_back(axis.of_tensor < 0 ? 1 : axis.step * x.strides()[axis.of_tensor]);
    }
    return make_view(x, shape, strides, offset);
  }

  traced::Part traced_part(const Tensor& x) const {
    traced::Part part;
    std::array<bool, Shape::max_rank> stays{};
    const auto take = [&](int axis, std::int64_t step, std::int64_t size) {
      const std::int64_t begin = first[static_cast<std::size_t>(axis)];
      if (begin == 0 && step == 1 && size == x.size(axis)) return;
      part.axes.push_back(axis);
      part.first.push_back(begin);
      part.step.push_back(step);
      part.size.push_back(size);
    };
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Axis& axis = axes[i];
      if (axis.of_tensor < 0) {
        part.added.push_back(static_cast<std::int64_t>(i));
        continue;
      }
      stays[static_cast<std::size_t>(axis.of_tensor)] = true;
      take(axis.of_tensor, axis.step, axis.size);
    }
    for (int axis = 0; axis < x.dim(); ++axis) {
      if (stays[static_cast<std::size_t>(axis)]) continue;
      take(axis, 1, 1);
      part.dropped.push_back(axis);
    }
    return part;
  }
};

// Reads the entries one after another.
class Reader {
 public:
  Reader(const Shape& shape, std::initializer_list<TensorIndex> indices) : shape_(shape) {
    int taken = 0, ellipses = 0;
    for (const TensorIndex& index : indices) {
      ellipses += index.kind() == TensorIndex::Kind::ellipsis ? 1 : 0;
      taken += axes_of(index);
    }
    require(ellipses <= 1, op, ellipses, " times Ellipsis for a tensor of shape ", shape, "; one is allowed");
    require(taken <= shape.rank(), op, taken, " entries for the ", shape.rank(), " axes of shape ", shape);
    for (const TensorIndex& index : indices) {
      if (index.kind() == TensorIndex::Kind::ellipsis)
        add_whole_axes(shape.rank() - taken);
      else
        add(index);
    }
    add_whole_axes(shape.rank() - next_);
  }

  const Parts& parts() const noexcept { return parts_; }

 private:
  // How many axes of the tensor an entry uses.
  static int axes_of(const TensorIndex& index) {
    if (index.kind() == TensorIndex::Kind::ellipsis || index.kind() == TensorIndex::Kind::new_axis) return 0;
    if (index.kind() != TensorIndex::Kind::positions) return 1;
    require(index.positions()->defined(), op, "the index tensor is undefined");
    return index.positions()->dtype() == DType::boolean ? index.positions()->dim() : 1;
  }

  void add(const TensorIndex& index) {
    switch (index.kind()) {
      case TensorIndex::Kind::new_axis: return add_axis({-1, 1, 1});
      case TensorIndex::Kind::position: return add_position(index.position());
      case TensorIndex::Kind::positions: return add_positions(index);
      default: return add_slice(index.slice());
    }
  }

  void add_axis(const Parts::Axis& axis) {
    require(parts_.axes.size() < Shape::max_rank, op, "the result has more than ", Shape::max_rank, " axes");
    parts_.axes.push_back(axis);
  }

  void add_positions(const TensorIndex& index) {
    parts_.picks.resize(static_cast<std::size_t>(static_cast<int>(parts_.axes.size()) - further_axes_));
    parts_.picks.push_back(*index.positions());
    add_whole_axes(axes_of(index));
    further_axes_ += axes_of(index) - 1;
  }

  void add_whole_axes(int count) {
    for (int i = 0; i < count; ++i) add_slice({});
  }

  void add_position(std::int64_t position) {
    const std::int64_t size = shape_[next_];
    require_in_range(position >= -size && position < size, op, "position ", position, " is out of range for axis ",
                     next_, " of shape ", shape_);
    parts_.first[static_cast<std::size_t>(next_++)] = position < 0 ? position + size : position;
  }

  // Python's rules for bounds: a negative bound counts from the end, and a bound outside is moved to the end.
  void add_slice(const Slice& slice) {
    const std::int64_t size = shape_[next_], step = slice.step;
    require(step != 0 && step >= -max_step && step <= max_step, op, "step ", step, " of the slice of axis ", next_,
            " of shape ", shape_, step == 0 ? " is 0" : " is out of range");
    const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
    const auto bound = [&](const std::optional<std::int64_t>& given, std::int64_t missing) {
      if (!given) return missing;
      return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
    };
    const std::int64_t start = bound(slice.start, step > 0 ? lowest : highest);
    const std::int64_t stop = bound(slice.stop, step > 0 ? highest : lowest);
    const std::int64_t distance = step > 0 ? stop - start : start - stop, width = step > 0 ? step : -step;
    const std::int64_t count = distance > 0 ? (distance + width - 1) / width : 0;
    if (step < 0) parts_.flipped.push_back(static_cast<std::int64_t>(parts_.axes.size()));
    if (count > 0) parts_.first[static_cast<std::size_t>(next_)] = step > 0 ? start : start - (count - 1) * width;
    add_axis({next_++, width, count});
  }

  static constexpr std::int64_t max_step = std::int64_t{1} << 62;

  const Shape& shape_;
  Parts parts_;
  int next_ = 0;          ///< The tensor's axis that the next entry uses.
  int further_axes_ = 0;  ///< The axes that masks use, beyond one for each mask. A mask of rank 0 counts as -1.
};

// The view of x, with a gradient.
Tensor recorded_view(const Tensor& x, const Parts& parts) {
  return call(
      op, {x}, parts.view_of(x),
      [&](Trace& trace, const Tensor& part) { traced::part(trace, x, parts.traced_part(x), part); },
      [&] {
        return [parts, shape = x.shape()](const Tensor& dy) {
          return autograd::view_backward(dy, shape,
                                         [parts](const Tensor& other) { return recorded_view(other, parts); });
        };
      });
}

}  // namespace

Tensor Tensor::operator[](std::initializer_list<TensorIndex> indices) const {
  const Parts parts = Reader(shape(), indices).parts();
  Tensor part = recorded_view(*this, parts);
  if (parts.flipped.empty() && parts.picks.empty()) return part;
  IndexedPlace place{impl(), part.shape(), part.strides(), part.offset(), parts.flipped, {}};
  if (!parts.flipped.empty()) part = crisol::flip(part, parts.flipped);
  if (!parts.picks.empty()) {
    place.picks = parts.picks;
    part = index_get(part, place.picks);
  }
  part.impl()->copied_from = std::make_shared<const IndexedPlace>(std::move(place));
  return part;
}

Tensor Tensor::operator[](const TensorIndex& index) const { return (*this)[std::initializer_list<TensorIndex>{index}]; }

void Tensor::operator=(const Operand& value) && {  // NOLINT(misc-unconventional-assign-operator)
  const std::shared_ptr<const IndexedPlace> place = get().copied_from;
  const std::shared_ptr<TensorImpl> whole = place == nullptr ? nullptr : place->tensor.lock();
  require(place == nullptr || whole != nullptr, op, "the tensor x of x[index] is gone, nothing can be written to it");
  if (place == nullptr) {
    if (value.tensor() == nullptr)
      fill_(value.number());
    else
      copy_from(*value.tensor());
    return;
  }
  Tensor target = autograd::view_in_graph(Tensor(whole), place->shape, place->strides, place->offset);
  autograd::records_write(op, Tensor(whole), value.tensor() != nullptr && value.tensor()->requires_grad());
  if (place->flipped.empty()) {
    target.index_put_(place->picks, value);
    return;
  }
  // A flipped copy of the target is written first. All of it is then copied to the target.
  Tensor flipped = crisol::flip(target, place->flipped);
  if (!place->picks.empty())
    flipped.index_put_(place->picks, value);
  else if (value.tensor() == nullptr)
    flipped.fill_(value.number());
  else
    flipped.copy_from(*value.tensor());
  target.copy_from(crisol::flip(flipped, place->flipped));
}

}  // namespace crisol
