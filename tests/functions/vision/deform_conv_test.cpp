// Convolutions with deformed windows: values, gradients, refusals.
#include "crisol/functions/arrange.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/vision.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

namespace crisol {

using namespace testing;

TEST_CASE("deform_conv2d: without offsets it is conv2d, and whole offsets move the input") {
  const Tensor x = random_tensor(1, {2, 6, 7, 8}), weight = random_tensor(2, {4, 3, 3, 2}),
               bias = random_tensor(3, {4});
  const Conv2dOptions options{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2};
  const Tensor expected = conv2d(x, weight, bias, options);
  const std::int64_t h = expected.size(2), w = expected.size(3);
  for (const std::int64_t parts : {1, 3})
    check_close(deform_conv2d(x, zeros({2, 2 * parts * 6, h, w}), weight, bias, Tensor(), options), expected.shape(),
                values_of(expected), {64, 19});
  // One row down and two columns to the left, for all elements. Without padding, which offsets could reach.
  const Conv2dOptions inside{.dilation = {1, 2}, .groups = 2};
  const Tensor moved = conv2d(pad(x, {{2, -2}, {-1, 1}}), weight, bias, inside);
  const Tensor move =
      from_vector(std::vector<float>{1, -2}, {2, 1, 1}).repeat({6, moved.size(2), moved.size(3)}).unsqueeze(0);
  check_close(deform_conv2d(x, move.expand({2, 12, moved.size(2), moved.size(3)}), weight, bias, Tensor(), inside),
              moved.shape(), values_of(moved), {64, 19});
  const Tensor half = full({2, 6, h, w}, 0.5);
  check_close(deform_conv2d(x, zeros({2, 12, h, w}), weight, Tensor(), half, options),
              values_of(conv2d(x, weight, Tensor(), options) * 0.5), {64, 19});
}

TEST_CASE("deform_conv2d: gradients of all operands") {
  // Offsets near 0.4 keep all places away from whole numbers, where the derivative jumps.
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return deform_conv2d(in[0], in[1], in[2], in[3], in[4], {.padding = 1}).square();
      },
      {random_tensor(4, {1, 4, 4, 5}), random_tensor(5, {1, 2 * 2 * 4, 5, 6}, 0.3, 0.5), random_tensor(6, {3, 4, 2, 2}),
       random_tensor(7, {3}), random_tensor(8, {1, 8, 5, 6})},
      {.tolerance = 1e-2});
}

TEST_CASE("deform_conv2d refuses what does not fit") {
  const Tensor x = zeros({1, 4, 5, 5}), weight = zeros({2, 4, 3, 3}), offset = zeros({1, 18, 3, 3});
  check_error([&] { deform_conv2d(x, Tensor(), weight); }, {"[deform_conv2d]", "undefined"});
  check_error([&] { deform_conv2d(x, zeros({1, 17, 3, 3}), weight); }, {"[deform_conv2d]", "(1, 17, 3, 3)", "9"});
  check_error([&] { deform_conv2d(x, zeros({1, 18, 4, 3}), weight); }, {"[deform_conv2d]", "offset", "(1, 18, 3, 3)"});
  check_error([&] { deform_conv2d(x, zeros({1, 54, 3, 3}), weight); }, {"[deform_conv2d]", "4 channels", "3 groups"});
  check_error([&] { deform_conv2d(x, offset, weight, zeros({3})); }, {"[deform_conv2d]", "bias"});
  check_error([&] { deform_conv2d(x, offset, weight, Tensor(), zeros({1, 8, 3, 3})); }, {"[deform_conv2d]", "mask"});
}

}  // namespace crisol
