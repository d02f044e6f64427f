// Resizing and sampling images: values, gradients, refusals.
#include "crisol/functions/vision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "crisol/capture.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/vision.h"
#include "doctest/doctest.h"
#include "reference/images/vision.h"
#include "reference/index_loop.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;
using reference::Values;

namespace {

constexpr InterpolateMode all_modes[] = {InterpolateMode::nearest, InterpolateMode::nearest_exact,
                                         InterpolateMode::linear, InterpolateMode::cubic};
constexpr GridSampleMode all_grid_modes[] = {GridSampleMode::bilinear, GridSampleMode::nearest,
                                             GridSampleMode::bicubic};
constexpr GridSamplePadding all_paddings[] = {GridSamplePadding::zeros, GridSamplePadding::border,
                                              GridSamplePadding::reflection};

bool picks(InterpolateMode mode) { return mode == InterpolateMode::nearest || mode == InterpolateMode::nearest_exact; }

Values random_of(std::uint64_t seed, const Shape& shape, double low = -1, double high = 1) {
  return {shape, random_values(seed, shape.numel(), low, high)};
}

void check_interpolate(const Shape& shape, const InterpolateOptions& options) {
  CAPTURE(shape);
  CAPTURE(options.size);
  CAPTURE(static_cast<int>(options.mode));
  CAPTURE(options.align_corners);
  CAPTURE(options.antialias);
  const Values x = random_of(1, shape), expected = reference::interpolate(x, options);
  // Weights are rounded once, and each axis rounds its sums. Sums of weights' magnitudes are below 2 for each axis.
  check_close(interpolate(tensor_of(x.values, shape), options), expected.shape, expected.values,
              {picks(options.mode) ? 0.0 : 16.0, 1});
}

/// Checks the values and the gradient, and returns the shape of the result.
Shape check_grid_sample(const Values& x, const Values& grid, const GridSampleOptions& options) {
  const Tensor places = tensor_of(grid.values, grid.shape);
  const Values y = reference::grid_sample(x, grid, options);
  // Places are rounded to 2^-24 of some 10 elements. 16 products of weights of at most 1.4 become a sum.
  check_close(grid_sample(tensor_of(x.values, x.shape), places, options), y.shape, y.values, {128, 1});
  const Values dy = random_of(6, y.shape), dx = reference::grid_sample_backward(dy, x.shape, grid, options);
  check_close(ops::grid_sample_backward(tensor_of(dy.values, y.shape), places, x.shape, options), x.shape, dx.values,
              {256, 4});
  return y.shape;
}

/// The options with which a mode can be called.
std::vector<InterpolateOptions> variations(InterpolateOptions options) {
  std::vector<InterpolateOptions> all{options};
  if (picks(options.mode)) return all;
  options.align_corners = true;
  all.push_back(options);
  options.align_corners = false;
  options.antialias = true;
  all.push_back(options);
  return all;
}

}  // namespace

TEST_CASE("interpolate: rows, images and volumes, larger and smaller") {
  for (const InterpolateMode mode : all_modes) {
    for (const Shape& size : {Shape{4, 3}, Shape{10, 14}, Shape{5, 7}, Shape{1, 1}, Shape{3, 29}, Shape{8}})
      for (const InterpolateOptions& o : variations({.size = size, .mode = mode})) check_interpolate({2, 3, 5, 7}, o);
    for (const std::vector<double>& factors : {std::vector<double>{2.5, 0.6}, {2}, {0.4}})
      for (const InterpolateOptions& o : variations({.scale_factor = factors, .mode = mode}))
        check_interpolate({1, 2, 6, 5}, o);
    for (const InterpolateOptions& o : variations({.size = {9}, .mode = mode})) check_interpolate({3, 1, 4}, o);
    for (const InterpolateOptions& o : variations({.size = {3, 5, 2}, .mode = mode}))
      check_interpolate({1, 2, 2, 3, 4}, o);
  }
  check_interpolate({1, 1, 1, 1}, {.size = {5, 6}, .mode = InterpolateMode::cubic});
  check_interpolate({2, 2, 40, 60}, {.size = {80, 33}, .mode = InterpolateMode::linear});
}

TEST_CASE("interpolate: the nearest modes take any dtype, the others f16 too") {
  const Values x{{1, 2, 3, 4}, random_integers(2, 24, 0, 1)};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    for (const InterpolateOptions& o :
         {InterpolateOptions{.scale_factor = {2, 3}}, InterpolateOptions{.size = {2, 7}}}) {
      const Tensor y = interpolate(tensor_of(x.values, x.shape, dtype), o);
      CHECK(y.dtype() == dtype);
      const Values expected = reference::interpolate(x, o);
      check_close(y, expected.shape, expected.values, {0});
    }
  const InterpolateOptions linear{.size = {4, 5}, .mode = InterpolateMode::linear};
  const Tensor half = interpolate(tensor_of(x.values, x.shape, DType::f16), linear);
  CHECK(half.dtype() == DType::f16);
  check_close(half, reference::interpolate(x, linear).values, {1, 1});
  // Many axes. The kernel for images repeats only the last two.
  const Tensor deep = interpolate(ones({1, 1, 1, 2, 1, 1, 1, 2}), {.scale_factor = {2}});
  CHECK(deep.shape() == Shape{1, 1, 2, 4, 2, 2, 2, 4});
  CHECK(deep.min().item() == 1);
}

TEST_CASE("interpolate: gradients") {
  const Tensor x = tensor_of(random_values(3, 2 * 5 * 6), {1, 2, 5, 6});
  for (const InterpolateMode mode : all_modes)
    for (const Shape& size : {Shape{10, 12}, Shape{3, 8}})
      for (const InterpolateOptions& o : variations({.size = size, .mode = mode}))
        check_gradients([&](const std::vector<Tensor>& in) { return interpolate(in[0], o).square(); }, {x});
  check_gradients_of_gradients(
      [](const std::vector<Tensor>& in) {
        return interpolate(in[0], {.size = {4, 7}, .mode = InterpolateMode::linear}).square();
      },
      {x});
}

TEST_CASE("interpolate can be captured after its first call") {
  const Tensor x = tensor_of(random_values(14, 2 * 5 * 6), {1, 2, 5, 6});
  const InterpolateOptions options{.size = {9, 11}, .mode = InterpolateMode::cubic};
  Tensor y = interpolate(x, options);
  const CapturedGraph graph = capture([&] { y = interpolate(x, options); });
  Tensor source = x;
  source.copy_from(x * 2);
  const Tensor expected = interpolate(x, options);
  graph.replay();
  CHECK(y.allclose(expected, 0, 0));
}

TEST_CASE("interpolate rounds short whole numbers, halves up, and limits them to their type") {
  for (const DType dtype : all_dtypes) {
    if (!is_whole(dtype) || size_of(dtype) > 2) continue;
    CAPTURE(dtype);
    const Tensor x = tensor_of({1, 2, 4}, {1, 1, 3}, dtype);
    const Tensor y = interpolate(x, {.size = {5}, .mode = InterpolateMode::linear, .align_corners = true});
    CHECK(y.dtype() == dtype);
    check_close(y, {1, 1, 5}, {1, 2, 2, 3, 4}, {0});  // From 1, 1.5, 2, 3 and 4.
  }
  const InterpolateOptions cubic{.scale_factor = {2}, .mode = InterpolateMode::cubic};
  const std::vector<double> edge{0, 0, 0, 255, 255, 255};
  std::vector<double> expected = values_of(interpolate(tensor_of(edge, {1, 1, 1, 6}), cubic));
  CHECK(*std::max_element(expected.begin(), expected.end()) > 256);
  for (double& value : expected) value = std::clamp(std::floor(value + 0.5), 0.0, 255.0);
  check_close(interpolate(tensor_of(edge, {1, 1, 1, 6}, DType::u8), cubic), expected, {0});
}

TEST_CASE("interpolate refuses what does not fit") {
  const Tensor x = zeros({1, 2, 4, 6});
  check_error([] { interpolate(Tensor(), {.size = {2}}); }, {"[interpolate]", "undefined"});
  check_error([] { interpolate(zeros({3, 4}), {.size = {2}}); }, {"[interpolate]", "(3, 4)", "(N, C, …)"});
  check_error([&] { interpolate(x, {}); }, {"[interpolate]", "either size or scale_factor"});
  check_error([&] { interpolate(x, {.size = {2}, .scale_factor = {2}}); }, {"[interpolate]", "either size"});
  check_error([&] { interpolate(x, {.size = {2, 3, 4}}); }, {"[interpolate]", "3 numbers for 2 axes"});
  check_error([&] { interpolate(x, {.size = {0, 3}}); }, {"[interpolate]", "size 4 would get size 0"});
  check_error([&] { interpolate(x, {.scale_factor = {-1}}); }, {"[interpolate]", "scale_factor is -1"});
  check_error([&] { interpolate(x, {.scale_factor = {1e30}}); }, {"[interpolate]", "scale_factor is 1e+30"});
  check_error([&] { interpolate(x, {.scale_factor = {0.1}}); }, {"[interpolate]", "would get size 0"});
  check_error([&] { interpolate(x, {.size = {2}, .align_corners = true}); }, {"[interpolate]", "nearest modes"});
  check_error(
      [&] {
        interpolate(zeros({1, 1, 4}, DType::i32), {.size = {2}, .mode = InterpolateMode::linear});
      },
      {"[interpolate]", "i32"});
  check_error(
      [&] { interpolate(x, {.size = {2}, .mode = InterpolateMode::linear, .align_corners = true, .antialias = true}); },
      {"[interpolate]", "exclude each other"});
}

TEST_CASE("grid_sample: every mode and padding, places inside and far outside") {
  for (const GridSampleMode mode : all_grid_modes)
    for (const GridSamplePadding padding : all_paddings)
      for (const bool align_corners : {false, true})
        for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{1, 70, 1, 4}, Shape{2, 1, 3, 1}}) {
          CAPTURE(static_cast<int>(mode));
          CAPTURE(static_cast<int>(padding));
          CAPTURE(align_corners);
          CAPTURE(shape);
          const Values x = random_of(4, shape), grid = random_of(5, {shape[0], 4, 9, 2}, -2.3, 2.3);
          check_grid_sample(x, grid, {mode, padding, align_corners});
        }
}

TEST_CASE("grid_sample: volumes, every mode and padding") {
  for (const GridSampleMode mode : {GridSampleMode::bilinear, GridSampleMode::nearest})
    for (const GridSamplePadding padding : all_paddings)
      for (const bool align_corners : {false, true})
        for (const Shape& shape : {Shape{2, 3, 5, 4, 7}, Shape{1, 70, 1, 3, 1}}) {
          CAPTURE(static_cast<int>(mode));
          CAPTURE(static_cast<int>(padding));
          CAPTURE(align_corners);
          const Values x = random_of(4, shape), grid = random_of(5, {shape[0], 3, 2, 9, 3}, -2.3, 2.3);
          const Shape y = check_grid_sample(x, grid, {mode, padding, align_corners});
          CHECK(y == Shape{shape[0], shape[1], 3, 2, 9});
        }
  const Tensor grid = zeros({1, 2, 2, 2, 3}), x = zeros({1, 1, 3, 4, 5});
  CHECK(grid_sample(x, zeros({1, 0, 2, 2, 3})).shape() == Shape{1, 1, 0, 2, 2});
  check_error([&] { grid_sample(x, grid, {.mode = GridSampleMode::bicubic}); },
              {"[grid_sample]", "bicubic", "(1, 1, 3, 4, 5)"});
  check_error(
      [&] {
        grid_sample(x, zeros({1, 2, 2, 2, 2}));
      },
      {"[grid_sample]", "(1, 2, 2, 2, 2)", "(1, OD, OH, OW, 3)"});
  check_error([&] { grid_sample(zeros({1, 1, 0, 4, 5}), grid); }, {"[grid_sample]", "no elements"});
}

TEST_CASE("grid_sample: gradients of a volume and of its grid") {
  const Tensor x = tensor_of(random_of(9, {2, 2, 3, 4, 3}).values, {2, 2, 3, 4, 3});
  // No place is near a whole position, where the derivative jumps.
  std::vector<float> places;
  for (int i = 0; i < 2 * 2 * 2 * 2; ++i)
    for (const double size : {3.0, 4.0, 3.0})
      places.push_back(static_cast<float>((2 * (i % 3 - 0.7 + 0.5) + 1) / size - 1));
  const Tensor grid = tensor_of(std::vector<double>(places.begin(), places.end()), {2, 2, 2, 2, 3});
  for (const GridSamplePadding padding : all_paddings) {
    CAPTURE(static_cast<int>(padding));
    check_gradients(
        [&](const std::vector<Tensor>& in) { return grid_sample(in[0], in[1], {.padding_mode = padding}).square(); },
        {x, grid}, {.step = 2e-3, .tolerance = 2e-2});
  }
}

TEST_CASE("grid_sample: views, empty results, and places that are no numbers") {
  const Values x = random_of(7, {2, 2, 4, 5}), grid = random_of(8, {2, 3, 3, 2});
  const std::vector<double> expected = reference::grid_sample(x, grid, {}).values;
  for (const Layout layout : all_layouts)
    check_close(grid_sample(view_of(x.values, x.shape, layout), view_of(grid.values, grid.shape, layout)), expected,
                {64, 1});
  CHECK(grid_sample(zeros({2, 0, 4, 5}), zeros({2, 3, 3, 2})).shape() == Shape{2, 0, 3, 3});
  CHECK(grid_sample(zeros({2, 1, 4, 5}), zeros({2, 0, 3, 2})).shape() == Shape{2, 1, 0, 3});
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor wild =
      from_vector(std::vector<float>{infinity, -infinity, 1e30f, -1e30f, std::nanf(""), 0}, {1, 1, 3, 2});
  for (const GridSampleMode mode : all_grid_modes)
    for (const GridSamplePadding padding : all_paddings)
      for (const bool align_corners : {false, true})  // Whatever it gives: it must not read outside.
        CHECK(grid_sample(ones({1, 1, 2, 3}), wild, {mode, padding, align_corners}).shape() == Shape{1, 1, 1, 3});
}

TEST_CASE("grid_sample: gradients of the image and of the grid") {
  const Tensor x = tensor_of(random_values(9, 2 * 2 * 5 * 6), {2, 2, 5, 6});
  // Places between the elements, where every mode is smooth, inside and outside.
  std::vector<double> places;
  for (int i = 0; i < 2 * 2 * 3; ++i) {
    places.push_back((0.3 + (i * 5) % 8 - 1.5) / 3 - 1);  // Column 0.3 + … - 2 of 6.
    places.push_back((0.7 + 2 * ((i * 3) % 7) - 2) / 5 - 1);
  }
  const Tensor grid = tensor_of(places, {2, 2, 3, 2});
  for (const GridSamplePadding padding : all_paddings) {
    CAPTURE(static_cast<int>(padding));
    for (const GridSampleMode mode : {GridSampleMode::bilinear, GridSampleMode::bicubic})
      check_gradients(
          [&](const std::vector<Tensor>& in) {
            return grid_sample(in[0], in[1], {.mode = mode, .padding_mode = padding}).square();
          },
          {x, grid}, {.step = 2e-3, .tolerance = 2e-2});
    check_gradients(
        [&](const std::vector<Tensor>& in) {
          return grid_sample(in[0], grid, {.mode = GridSampleMode::nearest, .padding_mode = padding}).square();
        },
        {x});
  }
}

TEST_CASE("grid_sample: positions of elements") {
  const Tensor x = tensor_of(random_values(16, 2 * 4 * 5), {1, 2, 4, 5});
  // The element (2, 3), the middle of (0, 0) and (0, 1), and a place outside.
  const Tensor grid = from_vector(std::vector<float>{3, 2, 0.5f, 0, -1, 1}, {1, 1, 3, 2});
  const Tensor y = grid_sample(x, grid, {.in_elements = true});
  for (int c = 0; c < 2; ++c) {
    CHECK(y[{0, c, 0, 0}].item() == x[{0, c, 2, 3}].item());
    CHECK(y[{0, c, 0, 1}].item() == doctest::Approx((x[{0, c, 0, 0}].item() + x[{0, c, 0, 1}].item()) / 2));
    CHECK(y[{0, c, 0, 2}].item() == 0);
  }
  check_gradients(
      [](const std::vector<Tensor>& in) { return grid_sample(in[0], in[1], {.in_elements = true}).square(); },
      {x, from_vector(std::vector<float>{1.4f, 2.3f, 3.6f, 0.7f}, {1, 1, 2, 2})});
}

TEST_CASE("grid_sample refuses what does not fit") {
  const Tensor x = zeros({2, 1, 4, 5}), grid = zeros({2, 3, 3, 2});
  check_error([&] { grid_sample(Tensor(), grid); }, {"[grid_sample]", "undefined"});
  check_error([&] { grid_sample(x, Tensor()); }, {"[grid_sample]", "undefined"});
  check_error([&] { grid_sample(zeros({2, 4, 5}), grid); }, {"[grid_sample]", "4 axes", "5 axes", "(2, 4, 5)"});
  check_error([&] { grid_sample(x, zeros({1, 3, 3, 2})); }, {"[grid_sample]", "(1, 3, 3, 2)", "(2, OH, OW, 2)"});
  check_error([&] { grid_sample(x, zeros({2, 3, 3, 3})); }, {"[grid_sample]", "(2, 3, 3, 3)"});
  check_error([&] { grid_sample(zeros({2, 1, 0, 5}), grid); }, {"[grid_sample]", "no elements"});
  check_error([&] { grid_sample(x, grid.to(DType::i32)); }, {"[grid_sample]", "i32"});
  check_error([&] { ops::grid_sample_backward(zeros({2, 1, 3, 4}), grid, x.shape()); }, {"[grid_sample_backward]"});
  check_error([&] { ops::grid_sample_backward_grid(zeros({2, 1, 3, 4}), x, grid); }, {"[grid_sample_backward_grid]"});
}

TEST_CASE("affine_grid: the identity reads the image itself, and a shift moves it") {
  const Tensor x = tensor_of(random_values(10, 2 * 3 * 4 * 5), {2, 3, 4, 5});
  const Tensor identity = from_vector(std::vector<float>{1, 0, 0, 0, 1, 0}, {1, 2, 3}).expand({2, 2, 3});
  for (const bool align_corners : {false, true}) {
    const Tensor grid = affine_grid(identity, x.shape(), align_corners);
    CHECK(grid.shape() == Shape{2, 4, 5, 2});
    CHECK(grid_sample(x, grid, {.align_corners = align_corners}).allclose(x, 1e-4, 1e-5));
  }
  // Two columns of five to the right: 2 · 2 / 5 of the width.
  const Tensor shift = from_vector(std::vector<float>{1, 0, 0.8f, 0, 1, 0}, {1, 2, 3}).expand({2, 2, 3});
  const Tensor shifted = grid_sample(x, affine_grid(shift, x.shape()));
  CHECK(shifted.narrow(3, 0, 3).allclose(x.narrow(3, 2, 3), 1e-4, 1e-5));
  CHECK(shifted.narrow(3, 3, 2).abs().max().item() < 1e-4);
  CHECK(affine_grid(identity, {2, 1, 1, 1}, true).abs().max().item() == 0);
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return affine_grid(in[0], {2, 1, 3, 4}).square();
      },
      {tensor_of(random_values(11, 12), {2, 2, 3})});
  // A volume: the identity, and a map that swaps its first and last axis.
  const Tensor volume = tensor_of(random_of(9, {1, 2, 3, 4, 3}).values, {1, 2, 3, 4, 3});
  const Tensor same = from_vector<float>({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 3, 4});
  const Tensor swap = from_vector<float>({0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0}, {1, 3, 4});
  for (const bool align_corners : {false, true}) {
    const auto moved = [&](const Tensor& map) {
      return grid_sample(volume, affine_grid(map, volume.shape(), align_corners), {.align_corners = align_corners});
    };
    CHECK(affine_grid(same, volume.shape(), align_corners).shape() == Shape{1, 3, 4, 3, 3});
    CHECK(moved(same).allclose(volume, 1e-4, 1e-5));
    CHECK(moved(swap).allclose(volume.transpose(2, 4), 1e-4, 1e-5));
  }
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return affine_grid(in[0], {1, 1, 2, 3, 4}).square();
      },
      {tensor_of(random_of(10, {1, 3, 4}).values, {1, 3, 4})});
  check_error([] { affine_grid(zeros({1, 2, 3}), {1, 1, 4, 4, 4}); }, {"[affine_grid]", "(1, 2, 3)", "(1, 3, 4)"});
  check_error([] { affine_grid(zeros({1, 3, 4}), {1, 1, 0, 4, 4}); }, {"[affine_grid]", "(1, 1, 0, 4, 4)"});
  check_error([] { affine_grid(zeros({2, 2, 3}), {1, 1, 4, 4}); }, {"[affine_grid]", "(2, 2, 3)", "(1, 2, 3)"});
  check_error([] { affine_grid(zeros({1, 2, 3}), {1, 1, 4}); }, {"[affine_grid]", "(1, 1, 4)"});
  check_error([] { affine_grid(Tensor(), {1, 1, 4, 4}); }, {"[affine_grid]", "undefined"});
}

TEST_CASE("pixel_shuffle and pixel_unshuffle") {
  const Tensor x = arange(0, 2 * 8 * 3 * 2, 1, DType::i64).reshape({2, 8, 3, 2});
  const Tensor y = pixel_shuffle(x, 2);
  CHECK(y.shape() == Shape{2, 2, 6, 4});
  // Channel 1 · 4 + 1 · 2 + 0 at (2, 1) is element (2 · 2 + 1, 1 · 2 + 0) of channel 1.
  CHECK(y[{1, 1, 5, 2}].item<int>() == x[{1, 6, 2, 1}].item<int>());
  CHECK(pixel_unshuffle(y, 2).to_vector<std::int64_t>() == x.to_vector<std::int64_t>());
  CHECK(pixel_shuffle(zeros({9, 2, 2}), 3).shape() == Shape{1, 6, 6});
  CHECK(pixel_shuffle(zeros({5, 0, 4, 2, 2}), 2).shape() == Shape{5, 0, 1, 4, 4});
  check_gradients([](const std::vector<Tensor>& in) { return pixel_shuffle(in[0], 2).square(); },
                  {tensor_of(random_values(12, 24), {1, 4, 2, 3})});
  check_error([&] { pixel_shuffle(x, 3); }, {"[pixel_shuffle]", "8 channels", "side 3"});
  check_error([&] { pixel_unshuffle(x, 2); }, {"[pixel_unshuffle]", "(2, 8, 3, 2)", "side 2"});
  check_error([] { pixel_shuffle(zeros({4, 4}), 2); }, {"[pixel_shuffle]", "axes"});
}

}  // namespace crisol
