// Weighted sums along an axis, compared with plain loops.
#include "ops/vision/resample.h"

#include "doctest/doctest.h"
#include "reference/index_loop.h"
#include "support/compare.h"
#include "support/coverage.h"

namespace crisol {

using namespace testing;
using ops::AxisWeights;

namespace {

/// Rows with none to five terms.
AxisWeights uneven_weights(std::int64_t size, std::int64_t count) {
  AxisWeights weights;
  weights.size = size;
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t k = 0; k < (j * 7 + 5) % 6; ++k)
      weights.add((j * 3 + k * 5) % size, 0.25 * static_cast<double>(1 + (j + k) % 5));
    weights.end();
  }
  return weights;
}

std::vector<double> expected_of(const std::vector<double>& x, const Shape& shape, int axis, const AxisWeights& w) {
  Shape result = shape;
  result[axis] = w.count();
  std::vector<double> y;
  reference::for_each_index(result, [&](Shape at) {
    const auto j = static_cast<std::size_t>(at[axis]);
    double sum = 0;
    for (auto e = static_cast<std::size_t>(w.starts[j]); e < static_cast<std::size_t>(w.starts[j + 1]); ++e) {
      at[axis] = w.indices[e];
      sum += w.weights[e] * x[reference::position(at, shape)];
    }
    y.push_back(sum);
  });
  return y;
}

}  // namespace

TEST_CASE("resample: every axis, odd sizes, every layout") {
  const MustRun along_last("resample", {on_cpus("lines"), on_cpus("rows"), "elements"}),
      across("resample", {on_cpus("rows"), "elements"});
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{5, 3}, Shape{3, 7, 21}, Shape{2, 9, 1, 33}, Shape{4, 130}})
    for (int axis = 0; axis < shape.rank(); ++axis)
      for (const std::int64_t count : {1, 6, 19}) {
        CAPTURE(shape);
        CAPTURE(axis);
        CAPTURE(count);
        const AxisWeights weights = uneven_weights(shape[axis], count);
        const std::vector<double> x = random_values(1, shape.numel());
        Shape result = shape;
        result[axis] = count;
        for_each_variant(axis == shape.rank() - 1 ? along_last : across, [&] {
          for (const Layout layout : all_layouts)
            check_close(ops::resample(view_of(x, shape, layout), axis, weights), result,
                        expected_of(x, shape, axis, weights), {5, 5});  // Up to five terms of at most 1.25.
        });
      }
}

TEST_CASE("resample: rows that are longer than a block of a work-item") {
  const Shape shape{2, 3, 5000};
  const AxisWeights weights = uneven_weights(3, 4);
  const std::vector<double> x = random_values(2, shape.numel());
  const MustRun variants("resample", {on_cpus("rows", 50000), "elements"});
  for_each_variant(variants, [&] {
    check_close(ops::resample(tensor_of(x, shape), 1, weights), {2, 4, 5000}, expected_of(x, shape, 1, weights),
                {5, 5});
  });
}

TEST_CASE("resample: no elements") {
  check_close(ops::resample(zeros({0, 3}), 1, uneven_weights(3, 4)), {0, 4}, {}, {0});
  check_close(ops::resample(zeros({2, 3}), 1, uneven_weights(3, 0)), {2, 0}, {}, {0});
}

TEST_CASE("AxisWeights: equal neighbours are one term, and the transposed weights") {
  AxisWeights weights;
  weights.size = 3;
  weights.add(0, 0.25);
  weights.add(0, 0.5);
  weights.add(2, 1);
  weights.end();
  weights.end();
  weights.add(2, 2);
  weights.end();
  CHECK(weights.count() == 3);
  CHECK(weights.indices == std::vector<std::int32_t>{0, 2, 2});
  CHECK(weights.weights == std::vector<double>{0.75, 1, 2});
  CHECK_FALSE(weights.only_picks());
  const AxisWeights transposed = weights.transposed();
  CHECK(transposed.size == 3);
  CHECK(transposed.starts == std::vector<std::int32_t>{0, 1, 1, 3});
  CHECK(transposed.indices == std::vector<std::int32_t>{0, 0, 2});
  CHECK(transposed.weights == std::vector<double>{0.75, 1, 2});
}

TEST_CASE("resample refuses what does not fit") {
  const AxisWeights weights = uneven_weights(3, 4);
  check_error([&] { ops::resample(zeros({2, 4}), 1, weights); }, {"[resample]", "axis of 3", "(2, 4)"});
  check_error([&] { ops::resample(zeros({3}, DType::i32), 0, weights); }, {"[resample]", "i32"});
  check_error([&] { ops::resample(zeros({3}), 1, weights); }, {"[resample]"});
}

}  // namespace crisol
