#include "ops/reduce/reduce_axes.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "tensor/impl.h"

namespace crisol::ops {

unsigned reduced_axes(const char* op, int rank, const Shape& axes) {
  if (axes.empty()) return (1u << rank) - 1;
  unsigned reduced = 0;
  for (const std::int64_t wanted : axes) {
    const unsigned bit = 1u << axis_or_scalar(op, wanted, rank);
    require((reduced & bit) == 0, op, "axis ", wanted, " is named twice in ", axes);
    reduced |= bit;
  }
  return rank == 0 ? 0 : reduced;
}

Shape reduced_shape(const Shape& shape, unsigned reduced, bool keepdim) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if ((reduced >> i & 1u) == 0)
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

std::int64_t reduced_count(const Shape& shape, unsigned reduced) {
  std::int64_t count = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if ((reduced >> i & 1u) != 0) count *= shape[i];
  return count;
}

Tensor with_axes(const char* op, const Tensor& result, const Shape& x_shape, unsigned reduced) {
  require(result.defined(), op, "the gradient or the result is undefined");
  const Shape with = reduced_shape(x_shape, reduced, true);
  require(result.shape() == with || result.shape() == reduced_shape(x_shape, reduced, false), op, "shape ",
          result.shape(), " for a reduction of ", x_shape, " to ", with);
  return reshape(result, with);
}

ReduceAxes split_axes(const Shape& shape, const Shape& strides, unsigned reduced, bool in_order) {
  Shape kept, kept_strides;
  std::array<int, Shape::max_rank> walk{};
  int count = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if ((reduced >> i & 1u) != 0) {
      walk[static_cast<std::size_t>(count++)] = i;
    } else {
      kept.push_back(shape[i]);
      kept_strides.push_back(strides[i]);
    }
  }
  if (!in_order)
    std::stable_sort(walk.begin(), walk.begin() + count, [&](int a, int b) { return strides[a] > strides[b]; });
  Shape walked, walked_strides;
  for (int i = 0; i < count; ++i) {
    walked.push_back(shape[walk[static_cast<std::size_t>(i)]]);
    walked_strides.push_back(strides[walk[static_cast<std::size_t>(i)]]);
  }
  const Loop kept_loop = collapse(kept, {&kept_strides, 1}), loop = collapse(walked, {&walked_strides, 1});
  ReduceAxes split{kept_loop.shape, kept_loop.strides[0], loop.shape, loop.strides[0], kept.numel(), walked.numel()};
  if (split.reduced == 0) {  // This must not be 0, because kernels divide by sizes.
    split.reduced_shape = {1};
    split.reduced_strides = {1};
  }
  return split;
}

}  // namespace crisol::ops
