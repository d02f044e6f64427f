#include "autograd/node.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  const Tensor y = ops::grid_sample(x, grid, options);
  if (!autograd::recording(x, grid)) return y;
  return autograd::record("grid_sample", y, {x, grid},
                          [x = Saved(x), grid = Saved(grid), options](const Tensor& dy, Needs needs) {
                            Gradients gradients(2);
                            if (needs[0])
                              gradients[0] = ops::grid_sample_backward(dy, grid.get(), x.get().shape(), options);
                            if (needs[1])
                              gradients[1] = ops::grid_sample_backward_grid(dy, x.get(), grid.get(), options);
                            return gradients;
                          });
}

namespace {

/// The coordinates of an axis of `size` elements, from -1 to 1. A single element lies at 0.
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
  require(theta.dtype() == DType::f32, op, "theta must be f32, it is ", theta.dtype());
  require(size.rank() == 4, op, "the size must be (N, C, H, W), it is ", size);
  require(theta.shape() == Shape({size[0], 2, 3}), op, "theta has shape ", theta.shape(), ", for the size ", size,
          " it must be (", size[0], ", 2, 3)");
  require(size[2] > 0 && size[3] > 0, op, "the size is ", size, ", height and width must be positive");
  const std::vector<double> down = coordinates(size[2], align_corners), across = coordinates(size[3], align_corners);
  const auto column = [&](int i) { return theta.select(2, i).reshape({size[0], 1, 1, 2}); };
  const Tensor x = from_vector(across, {1, 1, size[3], 1}, DType::f32, theta.device());
  const Tensor y = from_vector(down, {1, size[2], 1, 1}, DType::f32, theta.device());
  return x * column(0) + (y * column(1) + column(2));
}

}  // namespace crisol
