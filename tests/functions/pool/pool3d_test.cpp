// Differentiable pooling of volumes: values against the reference, gradients, refusals.
#include <cmath>
#include <limits>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/pool.h"
#include "doctest/doctest.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;

namespace {

// Values a tenth apart in a shuffled order, so that no step of the gradient check changes a maximum.
Tensor distinct_values(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 37 % values.size()) * 0.1 - 2.0;
  return tensor_of(values, shape);
}

}  // namespace

TEST_CASE("max_pool3d: values and positions") {
  for (const reference::MaxPool3dCase& c : reference::max_pool3d_cases) {
    CAPTURE(c.shape);
    CAPTURE(c.options.kernel);
    const auto x = random_values(1, c.shape.numel());
    const reference::MaxPool expected = reference::max_pool3d(x, c.shape, c.options);
    const ExtremeResult y = max_pool3d_with_indices(tensor_of(x, c.shape), c.options);
    CHECK(y.indices.dtype() == DType::i64);
    check_close(y.values, expected.shape, expected.values, {0});
    check_close(y.indices, expected.shape, expected.indices, {0});
    check_close(max_pool3d(tensor_of(x, c.shape), c.options), expected.shape, expected.values, {0});
  }
}

TEST_CASE("max_pool3d: the first of equal elements, NaN, a view, one volume") {
  const Shape shape{1, 1, 2, 2, 3};
  CHECK(max_pool3d_with_indices(zeros(shape), {{2, 2, 3}}).indices.item<std::int64_t>() == 0);
  std::vector<double> x{1, 2, 9, 4, 5, 6, 7, 8, 9, 0, 9, 3};
  CHECK(max_pool3d_with_indices(tensor_of(x, shape), {{2, 2, 3}}).indices.item<std::int64_t>() == 2);
  x[4] = std::numeric_limits<double>::quiet_NaN();
  const ExtremeResult nan = max_pool3d_with_indices(tensor_of(x, shape), {{2, 2, 3}});
  CHECK(std::isnan(nan.values.item()));
  CHECK(nan.indices.item<std::int64_t>() == 4);

  const auto values = random_values(2, 2 * 3 * 4 * 5 * 6);
  const Tensor volumes = tensor_of(values, {2, 3, 4, 5, 6}), transposed = volumes.transpose(1, 4);
  CHECK(max_pool3d(transposed, {2}).to_vector<float>() == max_pool3d(transposed.contiguous(), {2}).to_vector<float>());
  const Tensor single = volumes.select(0, 1);
  CHECK(max_pool3d(single, {2}).shape() == Shape{3, 2, 2, 3});
  CHECK(max_pool3d(single, {2}).to_vector<float>() == max_pool3d(volumes, {2}).select(0, 1).to_vector<float>());
  CHECK(max_pool3d_with_indices(single, {2}).indices.shape() == Shape{3, 2, 2, 3});
  CHECK(avg_pool3d(single, {2}).shape() == Shape{3, 2, 2, 3});
  CHECK(adaptive_avg_pool3d(single, 2).shape() == Shape{3, 2, 2, 2});
  // Windows of one element give a new tensor, not x.
  CHECK_FALSE(max_pool3d(volumes, {1}).shares_storage_with(volumes));
  CHECK_FALSE(avg_pool3d(volumes, {1}).shares_storage_with(volumes));
  CHECK(max_pool3d(zeros({0, 2, 4, 4, 4}), {2}).shape() == Shape{0, 2, 2, 2, 2});
}

TEST_CASE("avg_pool3d and adaptive_avg_pool3d: values") {
  for (const Shape& shape : {Shape{2, 3, 4, 6, 5}, Shape{1, 2, 5, 7, 33}}) {
    const auto x = random_values(3, shape.numel());
    for (const AvgPool3dOptions& options : reference::avg_pool3d_options) {
      CAPTURE(options.kernel);
      const reference::AvgPool expected = reference::avg_pool3d(x, shape, options);
      check_close(avg_pool3d(tensor_of(x, shape), options), expected.shape, expected.values, {12, 1});
      const auto dy = random_values(4, expected.shape.numel());
      const Tensor leaf = tensor_of(x, shape).requires_grad_();
      (avg_pool3d(leaf, options) * tensor_of(dy, expected.shape)).sum().backward();
      check_close(leaf.grad(), shape, reference::avg_pool3d_backward(dy, shape, options), {16, 1});
    }
    for (const IntTriple output : {IntTriple(1), IntTriple(3, 2, 5), IntTriple(6, 1, 7)}) {
      const reference::AvgPool expected = reference::adaptive_avg_pool3d(x, shape, output);
      check_close(adaptive_avg_pool3d(tensor_of(x, shape), output), expected.shape, expected.values, {12, 1});
    }
  }
}

TEST_CASE("gradients of the pooling of volumes") {
  const Tensor x = distinct_values({2, 1, 4, 5, 3});  // 120 elements; 37 has no common divisor with 120.
  for (const MaxPool3dOptions& options :
       {MaxPool3dOptions{2}, MaxPool3dOptions{3, 2, 1}, MaxPool3dOptions{2, 1, 1, {2, 1, 1}, true},
        MaxPool3dOptions{{3, 1, 1}}, MaxPool3dOptions{{1, 2, 2}}}) {
    check_gradients([&](const std::vector<Tensor>& in) { return max_pool3d(in[0], options); }, {x});
    check_gradients([&](const std::vector<Tensor>& in) { return max_pool3d_with_indices(in[0], options).values; }, {x});
  }
  for (const AvgPool3dOptions& options : {AvgPool3dOptions{2}, AvgPool3dOptions{3, 2, 1, true, false}})
    check_gradients([&](const std::vector<Tensor>& in) { return avg_pool3d(in[0], options); }, {x});
  for (const IntTriple output : {IntTriple(1), IntTriple(2, 4, 3)})
    check_gradients([&](const std::vector<Tensor>& in) { return adaptive_avg_pool3d(in[0], output); }, {x});
}

TEST_CASE("pooling of volumes refuses what does not fit") {
  const Tensor x = zeros({1, 2, 4, 5, 6});
  const auto refused = [&](const MaxPool3dOptions& o, std::initializer_list<std::string_view> parts) {
    check_error([&] { max_pool3d(x, o); }, parts);
    check_error([&] { max_pool3d_with_indices(x, o); }, parts);
  };
  refused({{0, 2, 2}}, {"[max_pool3d]", "kernel's depth is 0"});
  refused({{5, 2, 2}}, {"[max_pool3d]", "depth 5", "does not fit"});
  refused({2, {1, -1, 1}}, {"[max_pool3d]", "stride's height is -1"});
  refused({2, 2, {0, 0, 2}}, {"[max_pool3d]", "padding's width is 2", "at most half"});
  refused({2, 2, 0, {1, 0, 1}}, {"[max_pool3d]", "dilation's height is 0"});
  refused({{2, 2, 2}, 1, 1, {5, 1, 1}}, {"[max_pool3d]", "window 0 along the depth", "padding"});
  check_error([&] { max_pool3d(zeros({2, 4, 5}), {2}); }, {"[max_pool3d]", "(2, 4, 5)", "rank 5"});
  check_error([&] { max_pool3d(Tensor(), {2}); }, {"undefined"});
  check_error([&] { avg_pool3d(x.to(DType::i32), {2}); }, {"[avg_pool3d]", "i32"});
  check_error([&] { avg_pool3d(x, {{2, 6, 2}}); }, {"[avg_pool3d]", "height 6", "does not fit"});
  check_error([&] { adaptive_avg_pool3d(x, {0, 1, 1}); }, {"[adaptive_avg_pool3d]", "(0, 1, 1)"});
  check_error([&] { adaptive_avg_pool3d(zeros({4, 4}), 1); }, {"[adaptive_avg_pool3d]", "(4, 4)", "rank 5"});
}

}  // namespace crisol
