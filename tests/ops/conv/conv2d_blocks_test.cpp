// Convolution of channels in blocks: both variants against the reference, odd sizes, epilogues, refusals.
#include "ops/conv/conv2d_blocks.h"

#include <functional>
#include <limits>
#include <string>

#include "base/ceil_div.h"
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
using testing::run_variant;
using testing::tensor_of;

using Case = reference::Conv2dCase;

/// A convolution of images (N, C, H, W), whose channels it puts into blocks.
struct Blocked {
  ops::Conv2dSizes sizes;
  Tensor x, weight, bias;

  Blocked(const Tensor& image, const Tensor& filters, const Tensor& shift, const Conv2dOptions& options,
          std::int64_t block_in, std::int64_t block)
      : sizes(ops::conv2d_sizes("test", image.shape(), filters.shape(), options)),
        // The lanes without a channel hold NaN, because no result may depend on them.
        x(detail::to_blocks(
            pad(image, {{0, 0}, {0, 0}, {0, ceil_div(image.size(1), block_in) * block_in - image.size(1)}},
                std::numeric_limits<double>::quiet_NaN()),
            block_in)),
        weight(sizes.groups > 1 ? detail::depthwise_weight_in_blocks(filters, block)
                                : detail::weight_in_blocks(filters, block_in, block)) {
    if (shift.defined()) bias = detail::channels_in_blocks(shift, block);
  }

  /// The result as (N, K, H', W').
  Tensor run(const Epilogue* epilogue = nullptr) const {
    return detail::from_blocks(detail::conv2d_blocks(x, weight, bias, sizes, epilogue), sizes.outputs);
  }
};

/// Runs the body with one variant after the other.
using ForEach = std::function<void(const std::function<void()>& body)>;

ForEach each_of(const MustRun& variants) {
  return [&](const auto& body) { for_each_variant(variants, body); };
}

void check_case(const ForEach& for_each, const Case& c, std::int64_t block_in, std::int64_t block) {
  CAPTURE(c.x);
  CAPTURE(c.weight);
  CAPTURE(block_in);
  CAPTURE(block);
  const std::vector<double> x = random_values(1, c.x.numel()), weight = random_values(2, c.weight.numel());
  const std::vector<double> bias = random_values(3, c.weight[0]);
  const Tensor image = tensor_of(x, c.x), filters = tensor_of(weight, c.weight);
  const Blocked plain(image, filters, {}, c.options, block_in, block);
  const Blocked shifted(image, filters, tensor_of(bias, {c.weight[0]}), c.options, block_in, block);
  const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
  const auto bound = reference::conv2d_tolerance(c.weight.numel() / c.weight[0] + 1);
  for_each([&] {
    check_close(plain.run(), shape, reference::conv2d(x, c.x, weight, c.weight, {}, c.options), bound);
    check_close(shifted.run(), shape, reference::conv2d(x, c.x, weight, c.weight, bias, c.options), bound);
  });
}

const Case depthwise_case{{2, 20, 6, 5}, {20, 1, 3, 3}, {1, 1, 1, 20}};

}  // namespace

TEST_CASE("conv2d_blocks: odd windows") {
  // Tiles of one width, so that there are fewer programs.
  const ForEach variants = [](const auto& body) {
    for (const char* variant : {"tiles/5", "direct"}) run_variant("conv2d_blocks", variant, body);
  };
  int i = 0;
  for (const Case& c : reference::small_conv2d_cases) {
    const bool depthwise = c.options.groups > 1;
    if (depthwise && (c.options.groups != c.x[1] || c.weight[0] != c.x[1])) continue;
    if (testing::slow_launches() && i++ % 4 != 0) continue;  // Each case has programs of its own.
    check_case(variants, c, depthwise ? 8 : 1, 8);
  }
  check_case(variants, depthwise_case, 16, 16);
  check_case(variants, {{1, 20, 3, 6}, {35, 20, 1, 1}, {}}, 16, 16);
}

TEST_CASE("conv2d_blocks: layers") {
  if (testing::slow_device()) CRISOL_SKIP("20 million multiply-adds");
  const MustRun variants("conv2d_blocks", {on_cpus("tiles", 100'000), "direct"});
  const ForEach each = each_of(variants);
  check_case(each, {{2, 33, 19, 23}, {41, 33, 3, 3}, {1, 1}}, 16, 16);
  check_case(each, {{2, 33, 19, 23}, {41, 33, 3, 3}, {1, 1}}, 8, 8);
  check_case(each, {{2, 40, 21, 34}, {40, 1, 5, 5}, {2, 2, 1, 40}}, 16, 16);
  if (testing::slow_launches()) return;  // Seconds for each program.
  check_case(each, {{1, 3, 40, 31}, {32, 3, 7, 7}, {2, 3}}, 1, 16);
  check_case(each, {{2, 64, 7, 7}, {130, 64, 1, 1}, {}}, 16, 16);
  check_case(each, {{1, 300, 9, 13}, {70, 300, 1, 1}, {}}, 8, 8);  // The sums are kept twice.
  check_case(each, {{1, 300, 9, 13}, {70, 300, 1, 1}, {}}, 16, 16);
  check_case(each, {{1, 24, 9, 30}, {40, 24, 3, 2}, {{2, 1}, {1, 0}, {2, 1}}}, 8, 8);
  check_case(each, {{2, 40, 21, 34}, {40, 1, 3, 3}, {1, 2, 2, 40}}, 8, 8);
  check_case(each, {{1, 16, 3, 97}, {16, 1, 2, 3}, {1, {0, 40}, {1, 40}, 16}}, 8, 8);  // Taps far from each other.
}

TEST_CASE("conv2d_blocks: every width of a tile") {
  const std::vector<double> x = random_values(4, 2 * 20 * 3 * 17), weight = random_values(5, 35 * 20 * 3 * 3);
  const Shape shape{2, 20, 3, 17}, filters{35, 20, 3, 3};
  const Blocked conv(tensor_of(x, shape), tensor_of(weight, filters), {}, {.padding = 1}, 8, 8);
  const std::vector<double> expected = reference::conv2d(x, shape, weight, filters, {}, {.padding = 1});
  int ran = 0;
  for (const char* columns : {"4", "5", "6", "7", "8", "10", "12", "14"}) {
    if (testing::slow_launches() && ran > 0) break;  // A program for each of them.
    ran += run_variant("conv2d_blocks", std::string("tiles/") + columns, [&] {
      check_close(conv.run(), {2, 35, 3, 17}, expected, reference::conv2d_tolerance(181));
    });
  }
  CHECK((ran > 0 || ops::channel_block(dispatch::target_of(Device().state())) == 0));
}

TEST_CASE("conv2d_blocks: rows that are wide have tiles of one width") {
  dispatch::Target target = dispatch::target_of(Device().state());
  for (const int width : {4, 8, 16}) {
    target.vector_width = width;
    const std::int64_t block = target.cpu_vector_width() == 16 ? 16 : 8;
    for (const std::int64_t tile_blocks : {1, 2, 3}) {
      const std::int64_t widest = ops::tile_width(1'000'000, tile_blocks, block, target);
      for (std::int64_t out_w = 8 * widest; out_w < 1000; ++out_w)
        REQUIRE(ops::tile_width(out_w, tile_blocks, block, target) == widest);
    }
    // Four tiles of 4 columns leave 2 unused, and three of 5 leave 1.
    if (block == 8) CHECK(ops::tile_width(14, 2, block, target) == 5);
    if (block == 8) CHECK(ops::tile_width(7, 2, block, target) == 4);
  }
}

TEST_CASE("conv2d_blocks: epilogues run in the kernel") {
  manual_seed(3);
  const MustRun variants("conv2d_blocks", {on_cpus("tiles", 10'000), "direct"});
  const auto add = fuse([](const Expr& y, const Expr& r) { return y + r; });
  const auto add_relu = fuse([](const Expr& y, const Expr& r) { return relu(y + r); });
  const auto scaled = fuse([](const Expr& y, const Expr& s, const Expr& r) { return tanh(y * s) - r; });
  for (const bool depthwise : {false, true}) {
    CAPTURE(depthwise);
    const Tensor x = randn({2, 20, 4, 5}), weight = randn({20, depthwise ? 1 : 20, 3, 3}), bias = randn({20});
    const Conv2dOptions options{.padding = 1, .groups = depthwise ? 20 : 1};
    const Blocked conv(x, weight, bias, options, 8, 8);
    const Tensor y = conv2d(x, weight, bias, options), residual = randn({2, 20, 4, 5});
    const Tensor of_channel = randn({1, 20, 1, 1}), of_image = randn({2, 20, 1, 1}), number = randn({1});
    const auto blocks = [](const Tensor& t) { return detail::to_blocks(t, 8); };
    for_each_variant(variants, [&] {
      const auto check = [&](const Epilogue& epilogue, const Tensor& expected) {
        const Tensor got = conv.run(&epilogue);  // Throws for a variant that the device does not take.
        CHECK(got.allclose(expected, 1e-4, 1e-4));
      };
      check(relu_epilogue(), relu(y));
      check(add.epilogue(blocks(residual)), y + residual);
      check(add_relu.epilogue(blocks(residual)), relu(y + residual));
      check(scaled.epilogue(blocks(of_channel), blocks(residual)), tanh(y * of_channel) - residual);
      check(scaled.epilogue(blocks(residual), blocks(of_image)), tanh(y * residual) - of_image);
      check(scaled.epilogue(number, blocks(of_channel)), tanh(y * number) - of_channel);
      // An operand of one row of the image, which the kernel does not read.
      const Tensor row = randn({1, 20, 1, 5});
      check(add.epilogue(blocks(row)), y + row);
    });
  }
}

TEST_CASE("conv2d_in_blocks: ordinary tensors") {
  manual_seed(4);
  const Tensor x = randn({2, 20, 5, 6}), weight = randn({10, 20, 3, 3}), of_channel = randn({20, 1, 3, 3});
  CHECK(ops::conv2d_in_blocks(x, weight, {.padding = 1}, 8, 8)
            .allclose(conv2d(x, weight, {}, {.padding = 1}), 1e-4, 1e-4));
  CHECK(ops::conv2d_in_blocks(x, of_channel, {.stride = 2, .groups = 20}, 16, 16)
            .allclose(conv2d(x, of_channel, {}, {.stride = 2, .groups = 20}), 1e-4, 1e-4));
  check_error([&] { ops::conv2d_in_blocks(x, weight, {}, 8, 5); }, {"conv2d_in_blocks", "a block of 5 channels"});
  check_error([&] { ops::conv2d_in_blocks(x, weight, {}, 0, 8); }, {"conv2d_in_blocks", "a block of 0 channels"});
  check_error([&] { ops::conv2d_in_blocks(x, Tensor(), {}, 8, 8); }, {"conv2d_in_blocks", "undefined"});
}

TEST_CASE("conv2d_blocks: refusals") {
  const Tensor x = ones({1, 12, 5, 5}), weight = ones({10, 12, 3, 3});
  const auto run = [](const Blocked& conv) {
    return ops::conv2d_blocks(conv.x, conv.weight, conv.bias, conv.sizes, nullptr).y;
  };
  const auto change = [&](const auto& f) {
    Blocked conv(x, weight, ones({10}), {}, 8, 8);
    f(conv);
    return conv;
  };
  const auto refuses = [&](std::string_view reason, const auto& f) {
    check_error([&] { run(change(f)); }, {"conv2d_blocks", reason});
  };
  refuses("the input must have 5 axes (N, blocks, H, W, block), its shape is (1, 12, 5, 5)",
          [&](Blocked& c) { c.x = x; });
  refuses("the input must have shape (1, 2, 5, 5, 8), it has (1, 2, 5, 4, 8)", [](Blocked& c) {
    c.x = ones({1, 2, 5, 4, 8});
  });
  refuses("the weight must have 7 axes, its shape is (10, 12, 3, 3)", [&](Blocked& c) { c.weight = weight; });
  refuses("the bias must have shape (2, 8), it has (10)", [](Blocked& c) { c.bias = ones({10}); });
  refuses("2 groups of 12 channels and 10 outputs; one group, or one for each channel and output, is expected",
          [](Blocked& c) { c.sizes.groups = 2; });
}

}  // namespace crisol
