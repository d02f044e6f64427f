// Layers of f64: references in double within bounds of f64, gradients against differences.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "reference/images/vision.h"
#include "reference/rnn.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Whether the default device computes in f64. Otherwise the test case counts as skipped.
bool has_f64() {
  if (Device().info().fp64) return true;
  note_skip("needs double precision");
  return false;
}

/// Fractions between -2 and 2 that f32 does not hold.
std::vector<double> fractions(std::uint64_t seed, const Shape& shape) {
  std::vector<double> values = random_values(seed, shape.numel(), -2, 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0x1p-40 * static_cast<double>(i % 7 + 1);
  return values;
}

Tensor fine(std::uint64_t seed, const Shape& shape) { return from_vector(fractions(seed, shape), shape); }

/// Compares the gradients of f's inputs with differences. The scalar is a weighting of the elements of f's result.
void check_differences(const std::string& name, const std::vector<Shape>& shapes,
                       const std::function<Tensor(const std::vector<Tensor>&)>& f) {
  CAPTURE(name);
  const auto scalar = [&](const std::vector<Tensor>& in) {
    const Tensor y = f(in);
    CHECK(y.dtype() == DType::f64);
    return (y * fine(99, y.shape())).sum();
  };
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) inputs.push_back(fine(50 + i, shapes[i]).requires_grad_());
  scalar(inputs).backward();
  const NoGrad unrecorded;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<double> at = inputs[i].detach().to_vector<double>(),
                              gradient = inputs[i].grad().to_vector<double>();
    for (std::size_t e = 0; e < at.size(); e += 1 + at.size() / 5) {
      const auto moved = [&](double by) {
        std::vector<double> values = at;
        values[e] += by;
        std::vector<Tensor> all = inputs;
        all[i] = from_vector(values, shapes[i]);
        return scalar(all).item<double>();
      };
      const double difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      CHECK(std::abs(gradient[e] - difference) <= 1e-6 * std::max(1.0, std::abs(difference)));
    }
  }
}

}  // namespace

TEST_CASE("f64 layers: convolutions and their gradients") {
  if (!has_f64()) return;
  for (const auto& [x_shape, w_shape, options] : reference::small_conv2d_cases) {
    CAPTURE(x_shape);
    CAPTURE(w_shape);
    const std::vector<double> x = fractions(1, x_shape), w = fractions(2, w_shape), b = fractions(3, {w_shape[0]});
    const Shape y_shape = reference::conv2d_shape(x_shape, w_shape, options);
    const std::vector<double> dy = fractions(4, y_shape);
    const Tensor images = view_of(x, x_shape, Layout::permuted, DType::f64), weight = from_vector(w, w_shape),
                 gradient = from_vector(dy, y_shape);
    const double terms = 4.0 * static_cast<double>(w_shape.numel() / w_shape[0]);
    check_close(conv2d(images, weight, from_vector(b), options), y_shape,
                reference::conv2d(x, x_shape, w, w_shape, b, options), {4, terms});
    check_close(ops::conv2d_backward_data(gradient, weight, x_shape, options), x_shape,
                reference::conv2d_backward_data(dy, w, w_shape, x_shape, options),
                {4, 4.0 * static_cast<double>(w_shape.numel())});
    check_close(ops::conv2d_backward_weight(gradient, images, w_shape, options), w_shape,
                reference::conv2d_backward_weight(dy, x, x_shape, w_shape, options),
                {4, 4.0 * static_cast<double>(y_shape.numel())});
  }
  for (const Conv3dOptions& options : {Conv3dOptions{1, 1}, Conv3dOptions{2, {1, 0, 1}, {1, 2, 1}, 2}}) {
    const Shape x_shape{2, 4, 5, 6, 5}, w_shape{4, 4 / options.groups, 3, 2, 3};
    const std::vector<double> x = fractions(5, x_shape), w = fractions(6, w_shape);
    const Shape y_shape = reference::conv3d_shape(x_shape, w_shape, options);
    const std::vector<double> dy = fractions(7, y_shape);
    check_close(conv3d(from_vector(x, x_shape), from_vector(w, w_shape), {}, options), y_shape,
                reference::conv3d(x, x_shape, w, w_shape, {}, options), {4, 400});
    check_close(ops::conv3d_backward_data(from_vector(dy, y_shape), from_vector(w, w_shape), x_shape, options), x_shape,
                reference::conv3d_backward_data(dy, w, w_shape, x_shape, options), {4, 400});
    check_close(ops::conv3d_backward_weight(from_vector(dy, y_shape), from_vector(x, x_shape), w_shape, options),
                w_shape, reference::conv3d_backward_weight(dy, x, x_shape, w_shape, options), {4, 4000});
  }
  check_differences("conv1d", {{2, 4, 9}, {6, 2, 3}, {6}}, [](const std::vector<Tensor>& in) {
    return conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .groups = 2});
  });
  check_differences("conv2d", {{2, 2, 5, 4}, {3, 2, 3, 2}, {3}}, [](const std::vector<Tensor>& in) {
    return tanh(conv2d(in[0], in[1], in[2], {2, 1}));
  });
  check_differences("conv3d", {{1, 2, 4, 3, 4}, {2, 2, 2, 2, 3}, {2}}, [](const std::vector<Tensor>& in) {
    return conv3d(in[0], in[1], in[2], {1, 1});
  });
  check_differences("conv_transpose1d", {{2, 3, 5}, {3, 2, 3}, {2}}, [](const std::vector<Tensor>& in) {
    return conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .output_padding = 1});
  });
  check_differences("conv_transpose2d", {{2, 4, 3, 4}, {4, 2, 2, 3}, {4}}, [](const std::vector<Tensor>& in) {
    return conv_transpose2d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .groups = 2});
  });
  check_differences("conv_transpose3d", {{1, 2, 3, 2, 2}, {2, 2, 2, 2, 2}, {2}},
                    [](const std::vector<Tensor>& in) { return conv_transpose3d(in[0], in[1], in[2], {.stride = 2}); });
  const Tensor x = fine(8, {1, 2, 4, 4}), w = fine(9, {3, 2, 3, 3});
  check_close(conv2d(x, w, {}, {1, 1}, relu_epilogue()), relu(conv2d(x, w, {}, {1, 1})).to_vector<double>(), {0});
  check_error([&] { conv2d(x, w.to(DType::f32)); }, {"[conv2d]", "the weight", "f64", "f32"});
}

TEST_CASE("f64 layers: pools and their gradients") {
  if (!has_f64()) return;
  for (const auto& [shape, options] : reference::max_pool_cases) {
    CAPTURE(shape);
    const std::vector<double> x = fractions(11, shape);
    const reference::MaxPool expected = reference::max_pool2d(x, shape, options);
    const ops::MaxPool2dResult found = ops::max_pool2d(view_of(x, shape, Layout::strided, DType::f64), options);
    check_close(found.values, expected.shape, expected.values, {0});
    check_close(found.indices, expected.shape, expected.indices, {0});
    const std::vector<double> dy = fractions(12, expected.shape);
    check_close(ops::max_pool2d_backward(from_vector(dy, expected.shape), found.indices, shape, options), shape,
                reference::max_pool2d_backward(dy, expected, shape), {8});
  }
  const Shape shape{2, 3, 9, 11};
  const std::vector<double> x = fractions(13, shape);
  const Tensor images = from_vector(x, shape);
  for (const AvgPool2dOptions& options : reference::avg_pool_options) {
    const reference::AvgPool expected = reference::avg_pool2d(x, shape, options);
    check_close(avg_pool2d(images, options), expected.shape, expected.values, {16, 2});
    const std::vector<double> dy = fractions(14, expected.shape);
    check_close(ops::avg_pool2d_backward(from_vector(dy, expected.shape), shape, options), shape,
                reference::avg_pool2d_backward(dy, shape, options), {16, 4});
  }
  for (const IntPair output : {IntPair(1), IntPair(4, 5), IntPair(12, 3)}) {
    const reference::AvgPool expected = reference::adaptive_avg_pool2d(x, shape, output);
    check_close(adaptive_avg_pool2d(images, output), expected.shape, expected.values, {16, 2});
    const std::vector<double> dy = fractions(15, expected.shape);
    check_close(ops::adaptive_avg_pool2d_backward(from_vector(dy, expected.shape), shape), shape,
                reference::adaptive_avg_pool2d_backward(dy, shape, output), {16, 8});
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor ends =
      from_vector(std::vector<double>{-infinity, -infinity, std::nan(""), 1, infinity, 2}, {1, 1, 1, 6});
  const ExtremeResult of_ends = max_pool2d_with_indices(ends, {{1, 2}});
  check_close(of_ends.values, {-infinity, std::nan(""), infinity}, {0});
  check_close(of_ends.indices, {0, 2, 4}, {0});
  check_close(avg_pool2d(ends, {{1, 2}}), {-infinity, std::nan(""), infinity}, {0});
  for (const reference::MaxPool3dCase& one : reference::max_pool3d_cases) {
    const std::vector<double> volumes = fractions(16, one.shape);
    const reference::MaxPool expected = reference::max_pool3d(volumes, one.shape, one.options);
    const ExtremeResult found = max_pool3d_with_indices(from_vector(volumes, one.shape), one.options);
    check_close(found.values, expected.shape, expected.values, {0});
    check_close(found.indices, expected.shape, expected.indices, {0});
  }
  check_differences("max_pool2d", {{2, 2, 5, 6}}, [](const std::vector<Tensor>& in) {
    return max_pool2d(in[0], {3, 2, 1});
  });
  check_differences("avg_pool2d", {{2, 2, 5, 6}}, [](const std::vector<Tensor>& in) {
    return avg_pool2d(in[0], {3, 2, 1, true, false});
  });
  check_differences("avg_pool3d", {{1, 2, 5, 4, 6}}, [](const std::vector<Tensor>& in) {
    return avg_pool3d(in[0], {2, 2, 1});
  });
  check_differences("adaptive_avg_pool2d", {{2, 2, 5, 6}}, [](const std::vector<Tensor>& in) {
    return adaptive_avg_pool2d(in[0], {2, 4});
  });
  check_differences("adaptive_avg_pool3d", {{1, 2, 5, 4, 6}}, [](const std::vector<Tensor>& in) {
    return adaptive_avg_pool3d(in[0], {2, 3, 4});
  });
}

TEST_CASE("f64 layers: recurrent layers, attention, dropout and embedding") {
  if (!has_f64()) return;
  for (const RnnCell cell : {RnnCell::tanh, RnnCell::relu, RnnCell::lstm, RnnCell::gru}) {
    CAPTURE(name_of(cell));
    reference::RnnLayer layer{.cell = cell, .steps = 5, .batch = 3, .inputs = 4, .hidden = 6};
    layer.lengths = {5, 2, 3};
    const std::int64_t rows = layer.gates() * layer.hidden;
    const Shape x{5, 3, 4}, state{3, 6}, ih{rows, 4}, hh{rows, 6}, bias{rows};
    const bool is_lstm = cell == RnnCell::lstm;
    const reference::RnnInputs in{fractions(21, x), fractions(22, state),
                                  is_lstm ? fractions(23, state) : std::vector<double>()};
    const reference::RnnNumbers weights{
        fractions(24, ih), fractions(25, hh), fractions(26, bias), fractions(27, bias), {}};
    const reference::RnnOutputs expected = reference::rnn_forward(layer, in, weights);
    const RnnOptions options{.cell = cell};
    const RnnInput input{fine(21, x), fine(22, state), is_lstm ? fine(23, state) : Tensor(),
                         from_vector<std::int64_t>({5, 2, 3})};
    const RnnOutput found = rnn(input, {fine(24, ih), fine(25, hh), fine(26, bias), fine(27, bias), {}}, options);
    check_close(found.y, expected.y, {1e4, 1});
    check_close(found.h_n, expected.h_n, {1e4, 1});
    if (is_lstm) check_close(found.c_n, expected.c_n, {1e4, 1});
    check_differences("rnn", {x, state, ih, hh, bias, bias}, [&](const std::vector<Tensor>& t) {
      return rnn({t[0], t[1], input.c0, input.lengths}, {t[2], t[3] * 0.2, t[4], t[5], {}}, options).y;
    });
    check_error([&] { ops::rnn_forward(input, {fine(24, ih), fine(25, hh)}, options); }, {"f64"});
  }
  check_error([&] { rnn({fine(1, {2, 1, 3}), {}, {}, {}}, {fine(2, {8, 4}), fine(3, {8, 2})}); }, {"weight_ih"});

  const Shape heads{2, 3, 5, 4};
  const Tensor mask = from_vector(std::vector<bool>{true, true, false, true, true}, {1, 1, 1, 5});
  const auto attend = [&](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], mask);
  };
  const Tensor q = fine(31, heads), k = fine(32, heads), v = fine(33, heads);
  const Tensor scores = where(mask, matmul(q, k.transpose(-2, -1)) / 2, -std::numeric_limits<double>::infinity());
  check_close(attend({q, k, v}), heads, matmul(softmax(scores, -1), v).to_vector<double>(), {64, 2});
  check_differences("attention", {heads, heads, heads}, attend);
  check_differences("causal attention", {heads, heads, heads, {5, 5}}, [](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], in[3]) +
           scaled_dot_product_attention(in[0], in[1], in[2], {}, {.is_causal = true});
  });

  manual_seed(3);
  const Tensor x = fine(34, {1000}), dropped = dropout(x, 0.25);
  const Tensor kept = ne(dropped, 0);
  check_close(dropped, where(kept, x * (1 / 0.75), 0).to_vector<double>(), {0});
  const auto count = kept.sum().item<std::int64_t>();
  CHECK((count > 680 && count < 820));
  manual_seed(3);
  check_close(ne(dropout(x.to(DType::f32), 0.25), 0), kept.to(DType::f64).to_vector<double>(), {0});
  check_differences("dropout", {{40}}, [](const std::vector<Tensor>& in) {
    manual_seed(5);
    return dropout(in[0], 0.5);
  });
  const Tensor words = from_vector<std::int64_t>({2, 0, 2});
  check_differences("embedding", {{4, 3}}, [&](const std::vector<Tensor>& in) { return embedding(in[0], words); });
}

TEST_CASE("f64 layers: resized images and their gradients") {
  if (!has_f64()) return;
  std::vector<double> line, longer, shorter;
  for (int i = 0; i < 7; ++i) line.push_back(i / 3.0);
  for (int i = 0; i < 19; ++i) longer.push_back(i / 9.0);
  for (int i = 0; i < 4; ++i) shorter.push_back(2 * i / 3.0);
  const Tensor x = from_vector(line, {1, 1, 7});
  const auto resized = [&](std::int64_t size, InterpolateMode mode) {
    return interpolate(x, {.size = Shape{size}, .mode = mode, .align_corners = true});
  };
  check_close(resized(19, InterpolateMode::linear), longer, {4});
  check_close(resized(4, InterpolateMode::linear), shorter, {4});
  const Tensor ends = from_vector(std::vector<double>{1, 2, std::numeric_limits<double>::infinity()}, {1, 1, 3});
  check_close(interpolate(ends, {.size = Shape{2}, .mode = InterpolateMode::nearest}), {1, 2}, {0});
  for (const bool antialias : {false, true})
    check_differences("interpolate", {{2, 2, 5, 6}}, [&](const std::vector<Tensor>& in) {
      return interpolate(in[0], {.size = Shape{3, 9}, .mode = InterpolateMode::cubic, .antialias = antialias});
    });
  const Tensor images = fine(41, {1, 2, 6, 5});
  const InterpolateOptions cubic{.size = Shape{9, 4}, .mode = InterpolateMode::cubic};
  check_close(interpolate(images.to(DType::f32), cubic), interpolate(images, cubic).to_vector<double>(), {64, 4});
}

TEST_CASE("f64 layers: images at places and in boxes, and their gradients") {
  if (!has_f64()) return;
  const Shape shape{2, 2, 5, 6}, of_grid{2, 3, 4, 2};
  const reference::Values x{shape, fractions(51, shape)}, grid{of_grid, fractions(52, of_grid)};
  const Tensor images = from_vector(x.values, shape), places = from_vector(grid.values, of_grid);
  for (const GridSampleMode mode : {GridSampleMode::bilinear, GridSampleMode::nearest, GridSampleMode::bicubic})
    for (const GridSamplePadding padding :
         {GridSamplePadding::zeros, GridSamplePadding::border, GridSamplePadding::reflection}) {
      const GridSampleOptions options{mode, padding};
      const reference::Values y = reference::grid_sample(x, grid, options);
      check_close(grid_sample(images, places, options), y.shape, y.values, {128, 4});
      const reference::Values dy{y.shape, fractions(53, y.shape)};
      check_close(ops::grid_sample_backward(from_vector(dy.values, dy.shape), places, shape, options), shape,
                  reference::grid_sample_backward(dy, shape, grid, options).values, {256, 8});
      if (mode != GridSampleMode::nearest)
        check_differences("grid_sample", {shape, of_grid},
                          [&](const std::vector<Tensor>& in) { return grid_sample(in[0], in[1] * 0.7, options); });
    }
  check_differences("affine_grid", {{2, 2, 3}}, [](const std::vector<Tensor>& in) {
    return affine_grid(in[0], {2, 1, 3, 4});
  });
  check_differences("deform_conv2d", {{1, 4, 4, 5}, {1, 16, 5, 6}, {3, 4, 2, 2}, {3}, {1, 8, 5, 6}},
                    [](const std::vector<Tensor>& in) {
                      return deform_conv2d(in[0], in[1] * 0.1 + 0.35, in[2], in[3], in[4], {.padding = 1});
                    });
  const reference::Values boxes{{4, 4}, {1.2, 0.7, 5.3, 4.1, -3, -2.5, 4.4, 3.3, 4.9, 3.1, 12.7, 9.6, 3, 3, 3, 3}};
  const std::vector<std::int64_t> owners{0, 1, 0, 1};
  const Tensor corners = from_vector(boxes.values, boxes.shape), of_image = from_vector(owners);
  for (RoiAlignOptions options :
       {RoiAlignOptions{.height = 2, .width = 3},
        RoiAlignOptions{.height = 2, .width = 1, .spatial_scale = 0.7, .sampling_ratio = 3}}) {
    const reference::Values y = reference::roi_align(x, boxes, owners, options);
    check_close(roi_align(images, corners, of_image, options), y.shape, y.values, {256, 4});
    for (const bool maximum : {false, true}) {
      options.maximum = maximum;
      check_differences("roi_align", {shape},
                        [&](const std::vector<Tensor>& in) { return roi_align(in[0], corners, of_image, options); });
    }
  }
  // Boxes and scores that are equal in f32.
  const Tensor pair = from_vector(std::vector<double>{0, 0, 1, 1, 0, 0, 1, 1 + 0x1p-30}, {1, 2, 4});
  const Tensor scores = from_vector(std::vector<double>{0.5, 0.5 + 0x1p-30}, {1, 1, 2});
  using Rows = std::vector<std::int64_t>;
  const auto selected = [&](const NonMaxSuppressionOptions& options) {
    return non_max_suppression(pair, scores, options).to_vector<std::int64_t>();
  };
  CHECK(selected({.iou_threshold = 1 - 0x1p-29}) == Rows{0, 0, 1});
  CHECK(selected({.iou_threshold = 1 - 0x1p-31}) == Rows{0, 0, 1, 0, 0, 0});
  CHECK(selected({.iou_threshold = 1, .score_threshold = 0.5}) == Rows{0, 0, 1});
}
