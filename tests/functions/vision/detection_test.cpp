// Features of boxes, and the selection of boxes.
#include <cmath>
#include <limits>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/vision.h"
#include "doctest/doctest.h"
#include "reference/images/vision.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;
using reference::Values;

namespace {

using Rows = std::vector<std::int64_t>;

/// Boxes inside, over the edges, far away, turned round and empty.
const Values boxes{{8, 4}, {1.2, 0.7, 5.3, 6.1, -3, -2.5, 4.4, 3.3, 2, 2, 2.2, 2.1, 4.9, 3.1, 12.7, 9.6,
                            -9,  -9,  -5,  -4,  5,  5,    3,   4,   0, 0, 8,   7,   3,   3,   3,    3}};
const Rows images{0, 1, 0, 1, 0, 1, 1, 0};
const Shape shape{2, 3, 7, 8};

std::vector<RoiAlignOptions> variations() {
  return {{.height = 2, .width = 3},
          {.height = 3, .width = 2, .sampling_ratio = 2},
          {.height = 1, .width = 1, .aligned = true},
          {.height = 2, .width = 2, .spatial_scale = 0.5, .sampling_ratio = 3, .aligned = true}};
}

Rows selected(const std::vector<float>& places, const Shape& places_shape, const std::vector<float>& scores,
              const Shape& scores_shape, const NonMaxSuppressionOptions& options = {}) {
  const Tensor y = non_max_suppression(from_vector(places, places_shape), from_vector(scores, scores_shape), options);
  CHECK(y.dtype() == DType::i64);
  CHECK(y.size(1) == 3);
  return y.to_vector<std::int64_t>();
}

}  // namespace

TEST_CASE("roi_align: boxes anywhere, fixed and adaptive samples") {
  const Values x{shape, random_values(1, shape.numel())};
  for (const RoiAlignOptions& o : variations()) {
    CAPTURE(o.height);
    CAPTURE(o.sampling_ratio);
    CAPTURE(o.aligned);
    const Values expected = reference::roi_align(x, boxes, images, o);
    // Places are rounded to 2^-24 of some 10 elements. A mean of some 30 samples is rounded less than that.
    for (const Layout layout : all_layouts)
      check_close(
          roi_align(view_of(x.values, shape, layout), tensor_of(boxes.values, boxes.shape), from_vector(images), o),
          expected.shape, expected.values, {256, 1});
  }
  const Tensor features = tensor_of(x.values, shape);
  CHECK(roi_align(features, zeros({0, 4}), zeros({0}, DType::i64), {.height = 2}).shape() == Shape{0, 3, 2, 1});
  const Tensor wrong = roi_align(features, ones({2, 4}), from_vector(Rows{2, -1}));
  for (const float value : wrong.to_vector<float>()) CHECK(std::isnan(value));
  // A huge box takes no longer than the image is large.
  const Tensor huge = tensor_of({-1e9, -1e9, 1e9, 1e9}, {1, 4});
  CHECK(roi_align(features, huge, from_vector(Rows{0})).abs().max().item() < 1e-6);
}

TEST_CASE("roi_align: the maximum is that of products") {
  const Tensor x = tensor_of({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor box = tensor_of({0, 0, 1, 1}, {1, 4});
  // One sample in the middle of four elements: each has the weight 1/4.
  CHECK(roi_align(x, box, from_vector(Rows{0}), {.sampling_ratio = 1, .maximum = true}).item() == 1);
  CHECK(roi_align(x, box, from_vector(Rows{0}), {.sampling_ratio = 1}).item() == 2.5f);
  CHECK(roi_align(x * -1, box, from_vector(Rows{0}), {.sampling_ratio = 1, .maximum = true}).item() == -0.25f);
}

TEST_CASE("roi_align: gradients") {
  const Tensor x = tensor_of(random_values(2, shape.numel(), 0.5, 2), shape);
  const Tensor places = tensor_of(boxes.values, boxes.shape), owners = from_vector(images);
  for (RoiAlignOptions o : variations()) {
    check_gradients([&](const std::vector<Tensor>& in) { return roi_align(in[0], places, owners, o); }, {x});
    o.maximum = true;
    check_gradients([&](const std::vector<Tensor>& in) { return roi_align(in[0], places, owners, o); }, {x},
                    {.step = 1e-3, .tolerance = 2e-2});
  }
}

TEST_CASE("roi_align refuses what does not fit") {
  const Tensor x = zeros({1, 2, 4, 4}), box = zeros({3, 4}), owners = zeros({3}, DType::i64);
  check_error([&] { roi_align(x, Tensor(), owners); }, {"[roi_align]", "undefined"});
  check_error([&] { roi_align(zeros({2, 4, 4}), box, owners); }, {"[roi_align]", "4 axes", "(2, 4, 4)"});
  check_error([&] { roi_align(x, zeros({3, 5}), owners); }, {"[roi_align]", "(3, 5)", "(K, 4)"});
  check_error([&] { roi_align(x, box, zeros({2}, DType::i64)); }, {"[roi_align]", "(3)", "(2)"});
  check_error([&] { roi_align(x, box, zeros({3})); }, {"[roi_align]", "i64", "f32"});
  check_error([&] { roi_align(x, box, owners, {.height = 0}); }, {"[roi_align]", "0 x 1 bins"});
  check_error([&] { roi_align(x, box, owners, {.spatial_scale = 0}); }, {"[roi_align]", "spatial_scale is 0"});
  check_error([&] { roi_align(x, box, owners, {.sampling_ratio = -1}); }, {"[roi_align]", "sampling_ratio is -1"});
}

TEST_CASE("non_max_suppression: scores, overlaps, classes and images") {
  // Three pairs of boxes. The boxes of a pair overlap by more than half.
  const std::vector<float> places{0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                  0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100,   1, 101};
  const std::vector<float> scores{0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};
  const Shape one{1, 6, 4}, row{1, 1, 6};
  CHECK(selected(places, one, scores, row) == Rows{0, 0, 3, 0, 0, 0, 0, 0, 5});
  CHECK(selected(places, one, scores, row, {.max_per_class = 2}) == Rows{0, 0, 3, 0, 0, 0});
  CHECK(selected(places, one, scores, row, {.score_threshold = 0.4}) == Rows{0, 0, 3, 0, 0, 0});
  CHECK(selected(places, one, scores, row, {.iou_threshold = 1}).size() == 18);
  CHECK(selected(places, one, scores, row, {.max_per_class = 0}).empty());
  CHECK(selected(places, one, scores, row, {.score_threshold = 2}).empty());
  std::vector<float> equal(6, 0.5f);
  CHECK(selected(places, one, equal, row) == Rows{0, 0, 0, 0, 0, 3, 0, 0, 5});
  equal.assign(6, -std::numeric_limits<float>::infinity());
  CHECK(selected(places, one, equal, row).size() == 9);
  equal.assign(6, std::nanf(""));
  CHECK(selected(places, one, equal, row, {.score_threshold = 0}).empty());

  std::vector<float> two = places, four = scores;
  two.insert(two.end(), places.begin(), places.end());
  for (int i = 0; i < 3; ++i) four.insert(four.end(), scores.rbegin(), scores.rend());
  const Rows all = selected(two, {2, 6, 4}, four, {2, 2, 6}, {.max_per_class = 1});
  CHECK(all == Rows{0, 0, 3, 0, 1, 2, 1, 0, 2, 1, 1, 2});

  // The same boxes by their centres.
  std::vector<float> centres;
  for (std::size_t i = 0; i < 24; i += 4) {
    const float y = places[i], x = places[i + 1], bottom = places[i + 2], right = places[i + 3];
    centres.insert(centres.end(), {(x + right) / 2, (y + bottom) / 2, right - x, bottom - y});
  }
  CHECK(selected(centres, one, scores, row, {.centered = true}) == Rows{0, 0, 3, 0, 0, 0, 0, 0, 5});
}

TEST_CASE("non_max_suppression refuses what does not fit") {
  check_error([] { non_max_suppression(Tensor(), zeros({1, 1, 2})); }, {"[non_max_suppression]", "undefined"});
  check_error(
      [] {
        non_max_suppression(zeros({1, 2, 5}), zeros({1, 1, 2}));
      },
      {"[non_max_suppression]", "(1, 2, 5)", "(N, K, 4)"});
  check_error(
      [] {
        non_max_suppression(zeros({1, 2, 4}), zeros({1, 1, 3}));
      },
      {"[non_max_suppression]", "(1, 1, 3)", "(1, C, 2)"});
  check_error(
      [] {
        non_max_suppression(zeros({1, 2, 4}), zeros({1, 1, 2}), {.max_per_class = -1});
      },
      {"[non_max_suppression]", "max_per_class is -1"});
}

}  // namespace crisol
