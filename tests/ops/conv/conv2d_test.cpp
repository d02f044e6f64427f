// Convolution and its gradients, compared with the reference: every variant, odd windows, groups, views, refusals.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "crisol/device.h"
#include "crisol/ops/conv.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "ops/conv/gpu/conv2d_tiled.h"
#include "ops/product/gpu/tile_configs.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/launches.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::Expected;
using testing::for_each_variant;
using testing::Layout;
using testing::may_run;
using testing::MustRun;
using testing::on_cpus;
using testing::random_values;
using testing::run_variant;
using testing::some;
using testing::tensor_of;
using testing::view_of;
using testing::where;

using Case = reference::Conv2dCase;

testing::Tolerance tolerance(std::int64_t terms, std::string_view variant = "") {
  return reference::conv2d_tolerance(terms, variant_growth("conv2d", std::string(variant)));
}

/// The variants of a convolution and of its gradients. "matrix" has its own test, conv2d_matrix_test.cpp.
struct Variants {
  MustRun forward, data, weight;

  /// Layers of all kinds: how many are depthwise, and how many Winograd's filtering takes on GPUs and on CPUs. Where
  /// the variants for GPUs run few layers, these are no plain products.
  Variants(int depthwise, int filtered_on_gpus, int filtered_on_cpus, bool products)
      : Variants({some(depthwise, "depthwise"), some(1, where(products, "gemm")), some(filtered_on_gpus, "winograd_f4"),
                  some(filtered_on_gpus, "winograd_f2"), some(depthwise, on_cpus("planes")),
                  some(filtered_on_cpus, on_cpus("winograd", 100'000)), on_cpus("cpu_gemm"), "block", "im2col_gemm",
                  "direct"},
                 {some(depthwise, "depthwise"), some(1, where(products, "gemm")), some(depthwise, on_cpus("planes")),
                  some(filtered_on_cpus, on_cpus("winograd", 100'000)), on_cpus("cpu_dot"), "block", "im2col_gemm",
                  "direct"}) {}
  Variants(const std::vector<Expected>& of_images, const std::vector<Expected>& of_weight)
      : forward("conv2d", of_images),
        data("conv2d_backward_data", of_images),
        weight("conv2d_backward_weight", of_weight) {}
};

bool is_for_gpus(std::string_view variant) {
  return variant == "depthwise" || variant == "gemm" || variant == "block" || variant.substr(0, 10) == "winograd_f";
}

void check_forward(const MustRun& variants, const Case& c, bool gpus) {
  const std::vector<double> x = random_values(1, c.x.numel()), weight = random_values(2, c.weight.numel());
  const std::vector<double> bias = random_values(3, c.weight[0]);
  const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
  const std::vector<double> without = reference::conv2d(x, c.x, weight, c.weight, {}, c.options);
  const std::vector<double> with = reference::conv2d(x, c.x, weight, c.weight, bias, c.options);
  const std::int64_t terms = c.weight.numel() / c.weight[0] + 1;
  for_each_variant(variants, [&](const char* variant) {
    if (!gpus && is_for_gpus(variant)) return;
    const auto bound = tolerance(terms, variant);
    check_close(ops::conv2d(tensor_of(x, c.x), tensor_of(weight, c.weight), {}, c.options), shape, without, bound);
    check_close(ops::conv2d(tensor_of(x, c.x), tensor_of(weight, c.weight), tensor_of(bias, {c.weight[0]}), c.options),
                shape, with, bound);
  });
}

void check_gradients(const Variants& variants, const Case& c, bool gpus) {
  const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
  const std::vector<double> x = random_values(4, c.x.numel()), weight = random_values(5, c.weight.numel());
  const std::vector<double> dy = random_values(6, shape.numel());
  const std::vector<double> dx = reference::conv2d_backward_data(dy, weight, c.weight, c.x, c.options);
  const std::vector<double> dw = reference::conv2d_backward_weight(dy, x, c.x, c.weight, c.options);
  const std::int64_t dx_terms = c.weight[0] / c.options.groups * c.weight[2] * c.weight[3];
  for_each_variant(variants.data, [&](const char* variant) {
    if (!gpus && is_for_gpus(variant)) return;
    check_close(ops::conv2d_backward_data(tensor_of(dy, shape), tensor_of(weight, c.weight), c.x, c.options), c.x, dx,
                tolerance(dx_terms, variant));
  });
  for_each_variant(variants.weight, [&](const char* variant) {
    if (!gpus && is_for_gpus(variant)) return;
    check_close(ops::conv2d_backward_weight(tensor_of(dy, shape), tensor_of(x, c.x), c.weight, c.options), c.weight, dw,
                tolerance(shape[0] * shape[2] * shape[3], variant));
  });
}

/// Runs one tile of "block". Only the weight's gradient may lack this tile. Returns how many of the three passes ran.
int check_tile(const Case& c, const std::string& variant, bool with_weight) {
  CAPTURE(variant);
  const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
  const std::vector<double> x = random_values(16, c.x.numel()), weight = random_values(17, c.weight.numel());
  const std::vector<double> dy = random_values(18, shape.numel());
  const std::int64_t depth = c.weight.numel() / c.weight[0], taps = c.weight[2] * c.weight[3];
  int ran = run_variant("conv2d", variant, [&] {
    check_close(ops::conv2d(tensor_of(x, c.x), tensor_of(weight, c.weight), {}, c.options), shape,
                reference::conv2d(x, c.x, weight, c.weight, {}, c.options), tolerance(depth));
  });
  ran += run_variant("conv2d_backward_data", variant, [&] {
    check_close(ops::conv2d_backward_data(tensor_of(dy, shape), tensor_of(weight, c.weight), c.x, c.options), c.x,
                reference::conv2d_backward_data(dy, weight, c.weight, c.x, c.options),
                tolerance(c.weight[0] / c.options.groups * taps));
  });
  if (!with_weight || variant == "block/128x64") return ran;
  return ran + run_variant("conv2d_backward_weight", variant, [&] {
           check_close(ops::conv2d_backward_weight(tensor_of(dy, shape), tensor_of(x, c.x), c.weight, c.options),
                       c.weight, reference::conv2d_backward_weight(dy, x, c.x, c.weight, c.options),
                       tolerance(shape[0] * shape[2] * shape[3]));
         });
}

/// `gpus`: also run the variants for GPUs.
void check_case(const Variants& variants, const Case& c, bool gpus = true) {
  CAPTURE(c.x);
  CAPTURE(c.weight);
  CAPTURE(c.options.stride);
  CAPTURE(c.options.padding);
  CAPTURE(c.options.dilation);
  CAPTURE(c.options.groups);
  check_forward(variants.forward, c, gpus);
  check_gradients(variants, c, gpus);
}

/// `few`: the variants for GPUs run every third layer.
void check_layers(bool few) {
  const Variants variants(few ? 1 : 2, few ? 4 : 9, 6, !few);
  std::size_t i = 0;
  for (const Case& c : reference::large_conv2d_cases) check_case(variants, c, !few || i++ % 3 == 0);
}

bool on_a_cpu() { return Device().info().type == DeviceType::cpu; }

}  // namespace

TEST_CASE("conv2d: values and gradients of odd windows") {
  const bool slow = testing::slow_device();
  const Variants variants({some(2, "depthwise"), some(3, "gemm"), some(1, where(!slow, "winograd_f4")),
                           some(1, where(!slow, "winograd_f2")), some(8, on_cpus("planes")), on_cpus("cpu_gemm"),
                           "block", "im2col_gemm", "direct"},
                          {some(2, "depthwise"), some(1, "gemm"), some(2, on_cpus("planes")), on_cpus("cpu_dot"),
                           "block", "im2col_gemm", "direct"});
  int i = 0;  // On the simulator, GPU variants take seconds per case.
  for (const Case& c : reference::small_conv2d_cases) check_case(variants, c, !slow || i++ % 3 == 0);
}

TEST_CASE("conv2d: values and gradients of layers") {
  if (testing::slow_device()) CRISOL_SKIP("100 million multiply-adds");
  check_layers(testing::slow_launches() || on_a_cpu());  // CPUs are slow with the variants for GPUs.
}

TEST_CASE("conv2d: all layers by the variants for GPUs, on CPUs" * doctest::test_suite("long")) {
  if (testing::slow_launches() || !on_a_cpu()) CRISOL_SKIP("too slow here, or a GPU that runs all layers anyway");
  check_layers(false);
}

TEST_CASE("conv2d: outputs of a few pixels") {
  const MustRun variants("conv2d", {some(10, on_cpus("few_pixels", 100'000)), on_cpus("cpu_gemm"), "direct"});
  const Case cases[] = {{{1, 13, 1, 4}, {20, 13, 1, 3}, {1, {0, 1}}},     // a signal with zeros around it
                        {{1, 1, 1, 85}, {19, 1, 1, 37}, {{1, 12}, 0}},    // taps by vectors, and an odd rest
                        {{2, 5, 5, 6}, {33, 5, 3, 2}, {2, 1}},            // two images of 3 x 4 pixels: too many
                        {{3, 5, 4, 5}, {35, 5, 3, 2}, {{2, 2}, {1, 0}}},  // 3 images of 2 x 2 pixels
                        {{1, 4, 9, 7}, {24, 4, 3, 3}, {{3, 2}, {2, 1}, {2, 3}}},  // dilation
                        {{5, 9, 3, 3}, {48, 9, 3, 3}, {}},                        // one pixel an image
                        {{1, 6, 3, 3}, {65, 6, 3, 3}, {}},                        // one pixel
                        {{2, 5, 1, 5}, {70, 5, 1, 3}, {}},                        // six pixels
                        {{1, 7, 1, 13}, {81, 7, 1, 3}, {}},                       // eleven
                        {{2, 960, 2, 2}, {24, 960, 1, 1}, {}},                    // many short loops
                        {{1, 3, 2, 2}, {17, 3, 4, 4}, {1, 2}}};                   // a kernel larger than the image
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CAPTURE(c.weight);
    check_forward(variants, c, false);
  }
}

TEST_CASE("conv2d: every tile of the products for GPUs") {
  if (testing::slow_device()) CRISOL_SKIP("3 million multiply-adds for each tile");
  // Slow implementations take seconds to compile a program, so they run only one tile here. Other tests run the tiles
  // that these implementations choose by themselves.
  const bool few = testing::slow_launches();
  const std::vector<std::string> names = ops::tile_names(ops::fma_engine().tiles());
  int ran = 0, fitting = 0;
  for (const char* variant : {"block/128x128", "block/128x64", "block/64x64", "block/32x32"}) {
    if (few && std::string_view(variant) != "block/128x64") continue;
    // Two groups, rows and columns beyond a tile, a depth that is no multiple of a slice, and phases without a tap.
    ran += check_tile({{3, 10, 9, 8}, {140, 5, 3, 1}, {{1, 2}, {1, 0}, 1, 2}}, variant, true);
    // The same with channels in groups of eight, which share their taps. The weight's gradient has no other program for
    // them.
    if (!few) ran += check_tile({{3, 16, 9, 8}, {144, 8, 3, 1}, {{1, 2}, {1, 0}, 1, 2}}, variant, false);
    // A device may have too few registers for a tile, or work-groups that are too small.
    const auto name = std::find(names.begin(), names.end(), std::string_view(variant).substr(6));
    REQUIRE(name != names.end());
    const ops::TileShape& tile = ops::fma_engine().tiles()[static_cast<std::size_t>(name - names.begin())];
    if (ops::fma_engine().against_tile(tile, dispatch::target_of(Device().state()), 1) == nullptr)
      fitting += (variant == std::string_view("block/128x64") ? 2 : 3) + (few ? 0 : 2);
  }
  CHECK(fitting > 0);
  CHECK(ran == fitting);
}

TEST_CASE("child: conv2d of layers, for one vector width" * doctest::skip()) {
  const Variants variants(1, 1, 1, !testing::slow_launches());
  for (const Case& c : {Case{{2, 33, 9, 9}, {20, 33, 3, 3}, {1, 1}}, Case{{2, 3, 21, 19}, {10, 3, 5, 5}, {2, 2}},
                        Case{{2, 6, 11, 9}, {6, 1, 3, 3}, {1, 1, 1, 6}}, Case{{1, 12, 6, 7}, {9, 12, 1, 1}, {}},
                        Case{{1, 32, 8, 9}, {20, 32, 3, 3}, {1, 1}}})
    check_case(variants, c);
}

TEST_CASE("conv2d: the gradient of a batch as long as training's" * doctest::test_suite("long")) {
  // Loops as long as in training: llvmpipe ends a work-item's loops after 65535 iterations.
  if (testing::slow_device()) CRISOL_SKIP("60 million multiply-adds");
  const Variants variants(
      {"winograd_f4", "winograd_f2", may_run("planes"), on_cpus("cpu_gemm"), "block", "im2col_gemm", "direct"},
      {on_cpus("cpu_dot"), "block", "im2col_gemm", "direct"});
  check_case(variants, {{64, 1, 28, 28}, {32, 1, 3, 3}, {1, 1}});
}

TEST_CASE("conv2d: the error of Winograd's filtering stays within its bound") {
  if (testing::slow_device()) CRISOL_SKIP("5 million multiply-adds");
  // Values of equal sign are the worst case, because terms that the transforms subtract must cancel.
  const Shape shape{2, 64, 12, 12}, kernel{32, 64, 3, 3};
  const std::vector<double> x = random_values(13, shape.numel(), 0, 1), w = random_values(14, kernel.numel(), 0, 1);
  const std::vector<double> expected = reference::conv2d(x, shape, w, kernel, {}, {1, 1});
  // The transforms of F(2 x 2) are smaller, and their error is smaller too.
  for_each_variant(MustRun("conv2d", {on_cpus("winograd", 100'000), "winograd_f4", "winograd_f2"}),
                   [&](std::string_view variant) {
                     const std::vector<double> y =
                         testing::values_of(ops::conv2d(tensor_of(x, shape), tensor_of(w, kernel), {}, {1, 1}));
                     double worst = 0;
                     for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(y[i] - expected[i]));
                     const double unit = 9 * 64 * std::ldexp(1.0, -24);
                     MESSAGE("largest error of ", std::string(variant), ": ", worst / unit, " n eps");
                     CHECK(worst < (variant == "winograd_f2" ? 4 : 16) * unit);
                   });
  const std::vector<double> gradient = reference::conv2d_backward_weight(expected, x, shape, kernel, {1, 1});
  const double largest = *std::max_element(expected.begin(), expected.end());
  for_each_variant(MustRun("conv2d_backward_weight", {on_cpus("winograd", 100'000)}), [&] {
    const std::vector<double> dw = testing::values_of(
        ops::conv2d_backward_weight(tensor_of(expected, {2, 32, 12, 12}), tensor_of(x, shape), kernel, {1, 1}));
    double worst = 0;
    for (std::size_t i = 0; i < dw.size(); ++i) worst = std::max(worst, std::abs(dw[i] - gradient[i]));
    const double unit = 2 * 12 * 12 * largest * std::ldexp(1.0, -24);
    MESSAGE("largest error of the gradient ", worst / unit, " n eps");
    CHECK(worst < 16 * unit);
  });
}

TEST_CASE("conv2d: Winograd's filtering is nearly as exact as a direct sum") {
  if (testing::slow_device()) CRISOL_SKIP("12 million multiply-adds");
  // The number of channels is no multiple of the channels that a sum takes at a time. There are more tiles than a
  // vector of AVX-512 has elements.
  const Shape shape{1, 200, 20, 20}, kernel{16, 200, 3, 3};
  const std::vector<double> x = random_values(17, shape.numel()), w = random_values(18, kernel.numel());
  const std::vector<double> expected = reference::conv2d(x, shape, w, kernel, {}, {1, 1});
  for_each_variant(MustRun("conv2d", {on_cpus("winograd", 100'000), "winograd_f4", "winograd_f2"}),
                   [&](std::string_view variant) {
                     const std::vector<double> y =
                         testing::values_of(ops::conv2d(tensor_of(x, shape), tensor_of(w, kernel), {}, {1, 1}));
                     double errors = 0, squares = 0;
                     for (std::size_t i = 0; i < y.size(); ++i) {
                       errors += (y[i] - expected[i]) * (y[i] - expected[i]);
                       squares += expected[i] * expected[i];
                     }
                     MESSAGE("relative error of ", std::string(variant), ": ", std::sqrt(errors / squares));
                     CHECK(std::sqrt(errors / squares) < (variant == "winograd" ? 1.2e-6 : 2e-6));
                   });
}

TEST_CASE("conv2d_backward_weight: on a CPU, no layer of two bytes is left to the direct sums") {
  const dispatch::Target target = dispatch::target_of(Device().state());
  if (!target.takes_cpu_kernels()) CRISOL_SKIP("needs kernels for CPUs");
  const auto variant_of = [&](std::int64_t outputs, int kernel, DType type) {
    const Conv2dOptions options{2, kernel / 2};
    ops::Conv2dProblem p =
        ops::conv2d_problem(ops::conv2d_sizes("conv2d", {8, 128, 28, 28}, {outputs, 128, kernel, kernel}, options));
    p.type = static_cast<std::int64_t>(type);
    return dispatch::choose(ops::conv2d_backward_weight_table, p, target).variant;
  };
  for (const DType type : {DType::f16, DType::bf16})
    for (const int kernel : {1, 3}) CHECK(variant_of(256, kernel, type) == "cpu_dot");
}

TEST_CASE("conv2d: on a CPU, products of two bytes take as many launches as those of f32") {
  if (!dispatch::target_of(Device().state()).takes_cpu_kernels()) CRISOL_SKIP("needs kernels for CPUs");
  const Shape image{1, 64, 8, 8}, kernel{48, 64, 3, 3};  // A depth of 576.
  const ForcedVariant forced("conv2d", "cpu_gemm");
  const auto launches = [&](DType type) {
    const Tensor x = tensor_of(random_values(30, image.numel()), image).to(type);
    const Tensor w = tensor_of(random_values(31, kernel.numel()), kernel).to(type);
    return testing::launches_of([&] { ops::conv2d(x, w, {}, {2, 1}); });
  };
  for (const DType type : {DType::f16, DType::bf16}) CHECK(launches(type) == launches(DType::f32));
}

TEST_CASE("conv2d: on a CPU, few tiles share a transformed weight only if the weight's owner keeps it") {
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("needs a CPU");
  const Shape image{8, 128, 7, 7}, kernel{128, 128, 3, 3};
  const std::uint64_t bytes = 4 * static_cast<std::uint64_t>(kernel.numel());
  const std::vector<double> x = random_values(19, image.numel()), w = random_values(20, kernel.numel());
  const std::vector<double> expected = reference::conv2d(x, image, w, kernel, {}, {1, 1});
  const Tensor input = tensor_of(x, image), weight = tensor_of(w, kernel);
  const auto extra_of = [&](std::uint64_t MemoryStats::*member) {
    const std::uint64_t before = Device().memory_stats().in_use;
    Device().reset_peak_memory();
    check_close(ops::conv2d(input, weight, {}, {1, 1}), image, expected, tolerance(9 * 128, "winograd"));
    return Device().memory_stats().*member - before;
  };
  // The transformed weight has four times the bytes of the weight, and filtering takes as many again for the tiles.
  CHECK(extra_of(&MemoryStats::peak) < 5 * bytes);
  extra_of(&MemoryStats::in_use);
  const bool filters = ops::conv2d_choice(ops::Conv2dPass::forward, image, kernel, {1, 1}).variant == "winograd";
  extra_of(&MemoryStats::in_use);
  CHECK((!filters || Device().memory_stats().in_use >= 4 * bytes));
}

TEST_CASE("conv2d keeps to the limit on its workspace, and says what it takes") {
  struct Lift {
    ~Lift() { ops::set_workspace_limit(0); }
  } lift;
  const Shape image{2, 16, 12, 12}, kernel{24, 16, 3, 3};
  const std::vector<double> x = random_values(15, image.numel()), w = random_values(16, kernel.numel());
  const std::vector<double> expected = reference::conv2d(x, image, w, kernel, {}, {1, 1});
  for (const ops::Conv2dPass pass :
       {ops::Conv2dPass::forward, ops::Conv2dPass::backward_data, ops::Conv2dPass::backward_weight}) {
    ops::set_workspace_limit(0);
    const ops::Conv2dChoice free = ops::conv2d_choice(pass, image, kernel, {1, 1});
    CHECK(free.workspace > 0);
    ops::set_workspace_limit(free.workspace);
    CHECK(ops::conv2d_choice(pass, image, kernel, {1, 1}).variant == free.variant);
    ops::set_workspace_limit(free.workspace - 1);
    const ops::Conv2dChoice less = ops::conv2d_choice(pass, image, kernel, {1, 1});
    CHECK(less.workspace < free.workspace);
    ops::set_workspace_limit(1);
    CHECK(ops::conv2d_choice(pass, image, kernel, {1, 1}).variant == "direct");
  }
  const std::uint64_t before = Device().memory_stats().in_use;
  Device().reset_peak_memory();
  const Tensor input = tensor_of(x, image), weight = tensor_of(w, kernel);
  check_close(ops::conv2d(input, weight, {}, {1, 1}), {2, 24, 12, 12}, expected, tolerance(145));
  CHECK(Device().memory_stats().peak - before <= 4 * (x.size() + w.size() + expected.size()) + 3 * 4096);
  check_error(
      [&] {
        ops::conv2d_choice(ops::Conv2dPass::forward, image, {24, 15, 3, 3});
      },
      {"[conv2d]", "15 input channels"});
}

TEST_CASE(
    "conv2d: on CPUs the gradient of a weight is a product of tiles where many outputs share a matrix of patches") {
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("the rule is for CPUs");
  const auto choice = [](const Shape& image, const Shape& kernel, const Conv2dOptions& options) {
    return ops::conv2d_choice(ops::Conv2dPass::backward_weight, image, kernel, options).variant;
  };
  CHECK(choice({8, 512, 2, 2}, {512, 512, 3, 3}, {1, 1}) == "im2col_gemm");
  CHECK(choice({8, 128, 8, 8}, {256, 128, 1, 1}, {2, 0}) == "im2col_gemm");
  CHECK(choice({1, 64, 16, 16}, {128, 64, 3, 3}, {2, 1}) == "im2col_gemm");  // 64 pixels.
  CHECK(choice({8, 64, 16, 16}, {128, 64, 3, 3}, {2, 1}) == "cpu_dot");
  CHECK(choice({8, 3, 64, 64}, {64, 3, 7, 7}, {2, 3}) == "cpu_dot");
  CHECK(choice({32, 256, 56, 56}, {256, 256, 3, 3}, {2, 1}) == "cpu_dot");  // The matrix would take 231 MB.
}

TEST_CASE("conv2d takes any strides") {
  const Case c{{2, 3, 6, 5}, {4, 3, 3, 2}, {1, 1}};
  const Shape shape = reference::conv2d_shape(c.x, c.weight, c.options);
  const std::vector<double> x = random_values(7, c.x.numel()), weight = random_values(8, c.weight.numel());
  const std::vector<double> dy = random_values(9, shape.numel()), bias = random_values(10, 4);
  for (const Layout layout : testing::all_layouts) {
    CAPTURE(testing::name_of(layout));
    const Tensor input = view_of(x, c.x, layout), w = view_of(weight, c.weight, layout);
    const Tensor gradient = view_of(dy, shape, layout);
    check_close(ops::conv2d(input, w, view_of(bias, {4}, layout), c.options), shape,
                reference::conv2d(x, c.x, weight, c.weight, bias, c.options), tolerance(19));
    check_close(ops::conv2d_backward_data(gradient, w, c.x, c.options), c.x,
                reference::conv2d_backward_data(dy, weight, c.weight, c.x, c.options), tolerance(24));
    check_close(ops::conv2d_backward_weight(gradient, input, c.weight, c.options), c.weight,
                reference::conv2d_backward_weight(dy, x, c.x, c.weight, c.options), tolerance(84));
  }
}

TEST_CASE("conv2d: weight gradients have the same bits on every run") {
  const std::int64_t images = testing::slow_device() ? 2 : 40;
  const Tensor x = tensor_of(random_values(11, images * 3 * 64), {images, 3, 8, 8});
  const Tensor dy = tensor_of(random_values(12, images * 5 * 64), {images, 5, 8, 8});
  for_each_variant(MustRun("conv2d_backward_weight", {on_cpus("cpu_dot"), "block", "im2col_gemm", "direct"}), [&] {
    const auto run = [&] { return ops::conv2d_backward_weight(dy, x, {5, 3, 3, 3}, {1, 1}).to_vector<float>(); };
    const std::vector<float> first = run();
    CHECK(run() == first);
  });
}

TEST_CASE("conv2d of nothing") {
  CHECK(ops::conv2d(zeros({0, 3, 4, 4}), zeros({2, 3, 3, 3})).shape() == Shape{0, 2, 2, 2});
  CHECK(ops::conv2d(zeros({1, 3, 4, 4}), zeros({0, 3, 3, 3})).shape() == Shape{1, 0, 2, 2});
  const std::vector<Expected> of_images{
      may_run("depthwise"),   may_run("gemm"), may_run("planes"), on_cpus("cpu_gemm"), "block",
      may_run("im2col_gemm"), "direct"};
  for_each_variant(MustRun("conv2d", of_images), [] {  // No input channels: only the bias.
    check_close(ops::conv2d(zeros({1, 0, 2, 2}), zeros({2, 0, 1, 1}), tensor_of({1, 2}, {2})), {1, 2, 2, 2},
                {1, 1, 1, 1, 2, 2, 2, 2}, {0});
  });
  for_each_variant(MustRun("conv2d_backward_data", of_images), [] {
    check_close(ops::conv2d_backward_data(zeros({1, 0, 2, 2}), zeros({0, 1, 1, 1}), {1, 1, 2, 2}), {1, 1, 2, 2},
                std::vector<double>(4, 0.0), {0});
  });
  const std::vector<Expected> of_weight{
      may_run("depthwise"), may_run("gemm"),        may_run("planes"), on_cpus("cpu_dot"),
      may_run("block"),     may_run("im2col_gemm"), "direct"};
  for_each_variant(MustRun("conv2d_backward_weight", of_weight), [] {
    check_close(ops::conv2d_backward_weight(zeros({0, 2, 2, 2}), zeros({0, 1, 2, 2}), {2, 1, 1, 1}), {2, 1, 1, 1},
                std::vector<double>(2, 0.0), {0});
  });
}

TEST_CASE("conv2d refuses bad arguments") {
  const Tensor x = ones({1, 4, 5, 5}), w = ones({2, 4, 3, 3});
  check_error([&] { ops::conv2d(ones({4, 5, 5}), w); }, {"[conv2d]", "4 axes", "(4, 5, 5)"});
  check_error([&] { ops::conv2d(x, ones({2, 4, 3})); }, {"[conv2d]", "4 axes", "(2, 4, 3)"});
  check_error(
      [&] {
        ops::conv2d(x, ones({2, 3, 3, 3}));
      },
      {"[conv2d]", "weight has 3 input channels per group, input has 4 channels / 1 group"});
  check_error([&] { ops::conv2d(x, w, {}, {1, 0, 1, 3}); }, {"[conv2d]", "4 channels", "3 groups"});
  check_error([&] { ops::conv2d(x, ones({3, 2, 3, 3}), {}, {1, 0, 1, 2}); }, {"[conv2d]", "3 output channels"});
  check_error([&] { ops::conv2d(x, w, {}, {1, 0, 1, 0}); }, {"[conv2d]", "groups is 0"});
  check_error([&] { ops::conv2d(x, w, {}, {{1, 0}}); }, {"[conv2d]", "stride's width is 0"});
  check_error([&] { ops::conv2d(x, w, {}, {1, -1}); }, {"[conv2d]", "padding's height is -1"});
  check_error([&] { ops::conv2d(x, w, {}, {1, 0, {0, 1}}); }, {"[conv2d]", "dilation's height is 0"});
  check_error([&] { ops::conv2d(x, w, {}, {1, 0, 3}); }, {"[conv2d]", "does not fit", "7", "5"});
  check_error([&] { ops::conv2d(x, w, ones({3})); }, {"[conv2d]", "the bias", "(2)", "(3)"});
  check_error([&] { ops::conv2d(x.to(DType::i32), w); }, {"[conv2d]", "the weight", "i32", "f32"});
  check_error([&] { ops::conv2d(x.to(DType::f16), w); }, {"[conv2d]", "the weight", "f16", "f32"});
  check_error([&] { ops::conv2d(x, w.to(DType::i32)); }, {"[conv2d]", "the weight", "i32"});

  const Tensor dy = ones({1, 2, 3, 3});
  check_error(
      [&] {
        ops::conv2d_backward_data(ones({1, 2, 3, 4}), w, {1, 4, 5, 5});
      },
      {"[conv2d_backward_data]", "(1, 2, 3, 4)", "(1, 2, 3, 3)"});
  check_error([&] { ops::conv2d_backward_data(dy, w, {1, 3, 5, 5}); }, {"[conv2d_backward_data]", "3 channels"});
  check_error(
      [&] {
        ops::conv2d_backward_weight(dy, x, {2, 4, 2, 3});
      },
      {"[conv2d_backward_weight]", "(1, 2, 3, 3)", "(1, 2, 4, 3)"});
  check_error(
      [&] {
        ops::conv2d_backward_weight(dy.to(DType::f16), x, {2, 4, 3, 3});
      },
      {"[conv2d_backward_weight]", "the gradient", "f16"});
}

}  // namespace crisol
