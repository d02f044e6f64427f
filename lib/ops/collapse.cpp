#include "ops/collapse.h"

#include <algorithm>

#include "base/text.h"
#include "ops/overlap.h"

namespace crisol::ops {

bool Loop::is_flat() const noexcept {
  return shape.rank() == 1 &&
         std::all_of(strides.begin(), strides.begin() + operands, [](const Shape& operand) { return operand[0] == 1; });
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape shape = longer;
  const int ahead = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const std::int64_t size = shorter[i];
    std::int64_t& joint = shape[ahead + i];
    require(size == joint || size == 1 || joint == 1, op, "shapes ", a, " and ", b, " do not broadcast: axis ",
            i - shorter.rank(), " has ", longer[ahead + i], " and ", size);
    if (joint == 1) joint = size;
  }
  return shape;
}

Shape broadcast_strides(const Tensor& x, const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 0);
  const int ahead = shape.rank() - x.dim();
  for (int i = 0; i < x.dim(); ++i)
    if (x.shape()[i] != 1) strides[ahead + i] = x.strides()[i];
  return strides;
}

Loop collapse(const Shape& shape, std::span<const Shape> strides) {
  Loop loop;
  loop.operands = static_cast<int>(strides.size());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size = shape[axis];
    if (size == 1) continue;
    bool merges = !loop.shape.empty();
    for (std::size_t k = 0; merges && k < strides.size(); ++k)
      merges = loop.strides[k].back() == strides[k][axis] * size;
    if (merges) {
      const int last = loop.shape.rank() - 1;
      loop.shape[last] *= size;
      for (std::size_t k = 0; k < strides.size(); ++k) loop.strides[k][last] = strides[k][axis];
    } else {
      loop.shape.push_back(size);
      for (std::size_t k = 0; k < strides.size(); ++k) loop.strides[k].push_back(strides[k][axis]);
    }
  }
  if (loop.shape.empty()) {  // A single element counts as contiguous.
    loop.shape.push_back(1);
    for (std::size_t k = 0; k < strides.size(); ++k) loop.strides[k].push_back(1);
  }
  return loop;
}

void require_no_overlap(const char* op, const Tensor& dst) {
  if (!repeats_elements(dst)) return;
  for (int i = 0; i < dst.dim(); ++i)
    require(dst.strides()[i] != 0 || dst.shape()[i] <= 1, op, "cannot write to an expanded tensor: axis ", i, " of ",
            dst.shape(), " repeats its elements");
  require(false, op, "cannot write to a tensor of shape ", dst.shape(), " and strides ", dst.strides(),
          ": several of its indices mean the same element");
}

}  // namespace crisol::ops
