#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"
#include "functions/traced/traced.h"
#include "ops/storage.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  if (const autograd::Autocasts casts("grid_sample", {x, grid}); casts)
    return grid_sample(casts(x), casts(grid), options);
  if (x.defined()) ops::require_floating("grid_sample", "the input", x);
  // Kernels read no places of halves, because the elements of halves are too far apart.
  const DType of_places = x.defined() ? promote_types(x.dtype(), DType::f32) : DType::f32;
  if (grid.defined() && is_floating(grid.dtype()) && grid.dtype() != of_places)
    return grid_sample(x, grid.to(of_places), options);
  return call(
      "grid_sample", {x, grid}, ops::grid_sample(x, grid, options),
      [&](Trace& trace, const Tensor& y) { traced::grid_sample(trace, x, grid, options, y); },
      [&] {
        return [x = Saved(x), grid = Saved(grid), options](const Tensor& dy, Needs needs) {
          Gradients gradients(2);
          if (needs[0]) gradients[0] = ops::grid_sample_backward(dy, grid.get(), x.get().shape(), options);
          if (needs[1]) gradients[1] = ops::grid_sample_backward_grid(dy, x.get(), grid.get(), options);
          return gradients;
        };
      },
      autograd::Order::first);
}

namespace {

/// The coordinates of the elements of an axis of size `size`, from -1 to 1. A single element is at 0.
std::vector<double> coordinates(std::int64_t size, bool align_corners) {
  std::vector<double> result;
  const auto n = static_cast<double>(size);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(i);
    result.push_back(align_corners ? (size > 1 ? 2 * at / (n - 1) - 1 : 0) : (2 * at + 1) / n - 1);
  }
  return result;
}

}  // namespace

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  constexpr const char* op = "affine_grid";
  require(theta.defined(), op, "theta is undefined");
  ops::require_floating(op, "theta", theta);
  require(size.rank() == 4 || size.rank() == 5, op, "the size must be (N, C, H, W) or (N, C, D, H, W), it is ", size);
  const int axes = size.rank() - 2;
  const Shape expected{size[0], axes, axes + 1};
  require(theta.shape() == expected, op, "theta has shape ", theta.shape(), ", for the size ", size, " it must be ",
          expected);
  for (int axis = 2; axis < size.rank(); ++axis)
    require(size[axis] > 0, op, "the size is ", size, ", the sizes after the channels must be positive");
  Shape of_place = Shape::filled(axes + 2, 1);
  of_place[0] = size[0];
  of_place[axes + 1] = axes;
  const DType real = promote_types(theta.dtype(), DType::f32);
  const auto column = [&, wide = theta.to(real)](int i) { return wide.select(2, i).reshape(of_place); };
  Tensor places = column(axes);
  for (int i = axes - 1; i >= 0; --i) {  // Coordinate i of a position belongs to axis -1 - i of the image.
    Shape along = Shape::filled(axes + 2, 1);
    along[axes - i] = size[axes + 1 - i];
    const std::vector<double> at = coordinates(size[axes + 1 - i], align_corners);
    places = from_vector(at, along, real, theta.device()) * column(i) + places;
  }
  return places.to(theta.dtype());
}

}  // namespace crisol
