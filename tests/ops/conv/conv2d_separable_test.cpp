// A depthwise and a pointwise convolution in one pass: both variants against the reference, odd sizes, functions
// between and behind them, refusals.
#include "ops/conv/conv2d_separable.h"

#include <limits>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "functions/conv/conv_blocks.h"
#include "functions/conv/in_blocks.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::for_each_variant;
using testing::MustRun;
using testing::on_cpus;
using testing::random_values;
using testing::tensor_of;

/// Two convolutions of an image (N, C, H, W), which it puts into blocks.
struct Pair {
  ops::Conv2dSizes sizes;
  std::int64_t outputs;
  Tensor x;
  ops::SeparableWeights weights;

  Pair(const Tensor& image, const Tensor& depthwise, const Tensor& shift, const Tensor& pointwise, const Tensor& bias,
       const Conv2dOptions& options, std::int64_t block)
      : sizes(ops::conv2d_sizes("test", image.shape(), depthwise.shape(), options)),
        outputs(pointwise.size(0)),
        // The lanes without a channel hold NaN, because no result may depend on them.
        x(detail::to_blocks(pad(image, {{0, 0}, {0, 0}, {0, (block - image.size(1) % block) % block}},
                                std::numeric_limits<double>::quiet_NaN()),
                            block)),
        weights{detail::depthwise_weight_in_blocks(depthwise, block),
                {},
                detail::weight_in_blocks(pointwise, block, block),
                {}} {
    if (shift.defined()) weights.shift = detail::channels_in_blocks(shift, block);
    if (bias.defined()) weights.bias = detail::channels_in_blocks(bias, block);
  }

  /// The result as (N, outputs, H', W').
  Tensor run(const Epilogue* g = nullptr, const Epilogue* f = nullptr) const {
    return detail::from_blocks(detail::conv2d_separable(x, weights, sizes, outputs, g, f), outputs);
  }
};

void check_case(const MustRun& variants, const Shape& x, const Shape& depthwise, std::int64_t outputs,
                Conv2dOptions options, std::int64_t block) {
  CAPTURE(x);
  CAPTURE(depthwise);
  CAPTURE(block);
  options.groups = static_cast<int>(x[1]);
  const Shape pointwise{outputs, x[1], 1, 1}, middle = reference::conv2d_shape(x, depthwise, options);
  const auto of_x = random_values(1, x.numel()), w = random_values(2, depthwise.numel()),
             shift = random_values(3, x[1]), v = random_values(4, pointwise.numel()), bias = random_values(5, outputs);
  const auto expected = [&](const std::vector<double>& first, const std::vector<double>& second) {
    return reference::conv2d(reference::conv2d(of_x, x, w, depthwise, first, options), middle, v, pointwise, second,
                             {});
  };
  const Tensor image = tensor_of(of_x, x), filters = tensor_of(w, depthwise), mix = tensor_of(v, pointwise);
  const Pair plain(image, filters, {}, mix, {}, options, block);
  const Pair shifted(image, filters, tensor_of(shift, {x[1]}), mix, tensor_of(bias, {outputs}), options, block);
  const auto bound = reference::conv2d_tolerance(depthwise[2] * depthwise[3] + x[1] + 2);
  const Shape y{x[0], outputs, middle[2], middle[3]};
  for_each_variant(variants, [&] {
    check_close(plain.run(), y, expected({}, {}), bound);
    check_close(shifted.run(), y, expected(shift, bias), bound);
  });
}

}  // namespace

TEST_CASE("conv2d_separable: odd sizes") {
  const MustRun variants("conv2d_separable", {on_cpus("bands", 1000), "direct"});
  check_case(variants, {2, 20, 7, 5}, {20, 1, 3, 3}, 35, {.padding = 1}, 8);
  if (testing::slow_launches()) return;  // Seconds for each program.
  check_case(variants, {1, 33, 19, 23}, {33, 1, 3, 3}, 7, {.padding = 1}, 16);
  check_case(variants, {2, 40, 21, 34}, {40, 1, 5, 3}, 50, {{2, 1}, {3, 0}, {1, 2}}, 16);
  check_case(variants, {3, 9, 2, 1}, {9, 1, 2, 1}, 90, {}, 8);
  check_case(variants, {1, 24, 40, 30}, {24, 1, 3, 3}, 24, {.stride = 2, .padding = 1}, 4);
}

TEST_CASE("conv2d_separable: functions between and behind") {
  manual_seed(3);
  const MustRun variants("conv2d_separable", {on_cpus("bands", 1000), "direct"});
  const Tensor x = randn({2, 20, 6, 5}), w = randn({20, 1, 3, 3}), shift = randn({20}), v = randn({35, 20, 1, 1}),
               bias = randn({35}), residual = randn({2, 35, 6, 5}), gate = randn({2, 20, 6, 5});
  const Conv2dOptions options{.padding = 1, .groups = 20};
  const Pair pair(x, w, shift, v, bias, options, 8);
  const Tensor between = conv2d(x, w, shift, options);
  const auto clip = fuse([](const Expr& t) { return clamp(t, -0.5, 1.5); });
  const auto scaled = fuse([](const Expr& y, const Expr& r) { return tanh(y * 0.25) - r; });
  const auto gated = fuse([](const Expr& t, const Expr& g) { return t * g; });
  const Epilogue clipped = clip.epilogue(), minus = scaled.epilogue(detail::to_blocks(residual, 8));
  const Epilogue by_gate = gated.epilogue(detail::to_blocks(gate, 8));
  const auto last = [&](const Tensor& t) { return conv2d(t, v, bias, {}); };
  for_each_variant(variants, [&] {
    const auto check = [&](const Epilogue* g, const Epilogue* f, const Tensor& expected) {
      const Tensor got = pair.run(g, f);  // Throws for a variant that the device does not take.
      CHECK(got.allclose(expected, 1e-4, 1e-4));
    };
    check(&relu_epilogue(), nullptr, last(relu(between)));
    check(&clipped, &relu_epilogue(), relu(last(clamp(between, -0.5, 1.5))));
    check(&clipped, &minus, tanh(last(clamp(between, -0.5, 1.5)) * 0.25) - residual);
    check(nullptr, &minus, tanh(last(between) * 0.25) - residual);
  });
  // The kernel does not read an operand between the two, so they run one after the other.
  CHECK(pair.run(&by_gate, &minus).allclose(tanh(last(between * gate) * 0.25) - residual, 1e-4, 1e-4));
}

TEST_CASE("conv2d_separable_in_blocks: ordinary tensors, and refusals") {
  manual_seed(4);
  const Tensor x = randn({2, 20, 5, 6}), w = randn({20, 1, 3, 3}), v = randn({10, 20, 1, 1});
  const Conv2dOptions options{.stride = 2, .groups = 20};
  CHECK(ops::conv2d_separable_in_blocks(x, w, v, options, 8)
            .allclose(conv2d(conv2d(x, w, {}, options), v, {}, {}), 1e-4, 1e-4));
  const auto refuses = [&](std::string_view reason, const auto& f) { check_error(f, {"conv2d_separable", reason}); };
  refuses("a block of 5 channels", [&] { ops::conv2d_separable_in_blocks(x, w, v, options, 5); });
  refuses("a weight is undefined", [&] { ops::conv2d_separable_in_blocks(x, w, {}, options, 8); });
  refuses("the second weight's shape is (10, 20, 1, 2), it must be (K, C, 1, 1)", [&] {
    ops::conv2d_separable_in_blocks(x, w, ones({10, 20, 1, 2}), options, 8);
  });
  refuses("1 groups of 20 channels and 20 outputs", [&] {
    ops::conv2d_separable_in_blocks(x, ones({20, 20, 3, 3}), v, {}, 8);
  });
}

}  // namespace crisol
