// Gradients of writing by index, and reading and writing by tuples of positions.
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/grad_mode.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

namespace crisol {

namespace {

using Inputs = std::vector<Tensor>;
using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::check_wrong_index;
using testing::random_indices;
using testing::random_tensor;
using testing::tensor_of;

}  // namespace

TEST_CASE("gradients of scatter and index_copy: only the element that stays gets one") {
  const Tensor x = random_tensor(1, {3, 4, 5});
  for (const int axis : {0, 1, -1}) {
    CAPTURE(axis);
    const Tensor index = random_indices(2, {2, 3, 4}, 3), row = random_indices(3, {7}, 3);
    check_gradients([&](const Inputs& in) { return scatter(in[0], axis, index, in[1]); },
                    {x, random_tensor(4, {3, 3, 4})});
    Shape shape = x.shape();
    shape[axis < 0 ? axis + 3 : axis] = 7;
    check_gradients([&](const Inputs& in) { return index_copy(in[0], axis, row, in[1]); },
                    {x, random_tensor(5, shape)});
  }
  Tensor src = tensor_of({1, 2, 3, 4}, {4}).requires_grad_();
  const Tensor index = tensor_of({1, 5, 1, 0}, {4}, DType::i64);  // 5 is outside.
  const Tensor y = scatter(zeros({3}), 0, index, src);
  check_wrong_index(y.detach(), {"[scatter]", "index 5 is not in [0, 3)"});
  check_close(y.detach(), {4, 3, 0}, {0});
  y.backward(tensor_of({10, 20, 30}, {3}));
  check_wrong_index(src.grad());
  check_close(src.grad(), {0, 0, 20, 10}, {0});
}

TEST_CASE("scatter: scalars count as lines") {
  const Tensor scalar = tensor_of({2}, {}), at = zeros({}, DType::i64);
  check_close(scatter(scalar, 0, at, tensor_of({5}, {})), {}, {5}, {0});
  check_close(index_copy(scalar, 0, at, tensor_of({5}, {})), {}, {5}, {0});
  check_close(scatter_reduce(scalar, 0, at, tensor_of({5}, {}), ScatterReduction::prod), {}, {10}, {0});
}

TEST_CASE("scatter_reduce, index_reduce and scatter_nd: gradients of each reduction") {
  const Tensor x = random_tensor(6, {4, 3}, 0.5, 1.5), src = random_tensor(8, {5, 4}, 0.5, 1.5);
  const Tensor index = random_indices(7, {5}, 4), places = random_indices(9, {4, 2}, 3);
  for (const ScatterReduction how :
       {ScatterReduction::sum, ScatterReduction::prod, ScatterReduction::amax, ScatterReduction::amin}) {
    CAPTURE(static_cast<int>(how));
    const testing::GradcheckOptions options{.step = 1e-3, .tolerance = 1e-2};
    check_gradients([&](const Inputs& in) { return index_reduce(in[0], 0, index, in[1], how); },
                    {x, random_tensor(8, {5, 3}, 0.5, 1.5)}, options);
    check_gradients([&](const Inputs& in) { return scatter_reduce(in[0], 1, places, in[1], how); }, {x, src}, options);
    check_gradients(
        [&](const Inputs& in) {
          return scatter_nd(in[0], tensor_of({1, 0, -1, 2}, {2, 2}, DType::i64), in[1], how);
        },
        {x, random_tensor(3, {2}, 0.5, 1.5)}, options);
    check_gradients([&](const Inputs& in) { return scatter_reduce(in[0], 0, zeros({}, DType::i64), in[1], how); },
                    {tensor_of({2}, {}), tensor_of({3}, {})}, options);
  }
}

TEST_CASE("scatter_reduce: equal extremes share a gradient, and products have factors of 0") {
  const auto gradients = [](const std::vector<double>& x, const std::vector<double>& src, ScatterReduction how) {
    const Tensor own = tensor_of(x, {2}).requires_grad_(), others = tensor_of(src, {4}).requires_grad_();
    const Tensor index = tensor_of({0, 0, 1, 0}, {4}, DType::i64);
    scatter_reduce(own, 0, index, others, how).backward(tensor_of({6, 10}, {2}));
    std::vector<float> all = own.grad().to_vector<float>();
    for (const float g : others.grad().to_vector<float>()) all.push_back(g);
    return all;
  };
  using Values = std::vector<float>;
  CHECK(gradients({3, 1}, {3, 2, 5, 3}, ScatterReduction::amax) == Values{2, 0, 2, 0, 10, 2});
  CHECK(gradients({3, 1}, {1, 2, 1, 1}, ScatterReduction::amin) == Values{0, 5, 3, 0, 5, 3});
  CHECK(gradients({3, 0}, {2, 0, 4, 5}, ScatterReduction::prod) == Values{0, 40, 0, 180, 0, 0});
  CHECK(gradients({0, 2}, {2, 3, 0, 5}, ScatterReduction::prod) == Values{180, 0, 0, 0, 20, 0});
  CHECK(gradients({1, 1}, {0, 0, 1, 5}, ScatterReduction::prod) == Values{0, 10, 0, 0, 10, 0});
}

TEST_CASE("gather_nd: slices and elements, batches, negative and wrong positions, gradients") {
  const Tensor x = tensor_of({0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2});
  const auto at = [](const std::vector<std::int64_t>& values, const Shape& shape) {
    return from_vector(values, shape);
  };
  check_close(gather_nd(x, at({0, 1, 1, 0}, {2, 2})), {2, 2}, {2, 3, 4, 5}, {0});
  check_close(gather_nd(x, at({0, 1, -1, 0}, {2, 1, 2})), {2, 1, 2}, {2, 3, 4, 5}, {0});
  check_close(gather_nd(x, at({-1, -1, -2}, {3})), {}, {6}, {0});
  check_close(gather_nd(x, at({1, 0}, {2, 1}), 1), {2, 2}, {2, 3, 4, 5}, {0});
  check_close(gather_nd(x, at({1, 0, 0, 1}, {2, 2, 1}), 1), {2, 2, 2}, {2, 3, 0, 1, 4, 5, 6, 7}, {0});
  const double missing = -0x1p31;
  Tensor y = gather_nd(x.to(DType::i32), at({2, 0, -3, 0, 1, 1}, {3, 2}));
  check_wrong_index(y, {"[gather_nd]", "an index is outside its axis"});
  check_close(y, {3, 2}, {missing, missing, missing, missing, 6, 7}, {0});
  y = gather_nd(x.to(DType::i32), at({1, 2}, {2, 1}), 1);
  check_wrong_index(y, {"[gather_nd]"});
  check_close(y, {2, 2}, {2, 3, missing, missing}, {0});
  check_gradients(
      [&](const Inputs& in) {
        return gather_nd(in[0], random_indices(9, {4, 2}, 2));
      },
      {random_tensor(10, {2, 3, 4})});
  check_gradients(
      [&](const Inputs& in) {
        return gather_nd(in[0], random_indices(11, {3, 5, 1}, 4), 1);
      },
      {random_tensor(12, {3, 4, 2})});
  check_error([&] { gather_nd(x, at({0, 0, 0, 0}, {4})); }, {"[gather_nd]", "4 positions", "(2, 2, 2)"});
  check_error([&] { gather_nd(x, at({0}, {1, 1}), 1); }, {"[gather_nd]", "batch axis 0", "(1, 1)"});
  check_error([&] { gather_nd(x, at({0}, {1}), 1); }, {"[gather_nd]", "batch_axes is 1"});
  check_error([&] { gather_nd(x, zeros({2, 1})); }, {"[gather_nd]", "f32"});
}

TEST_CASE("scatter_nd: slices and elements, reductions, wrong positions, gradients") {
  const auto at = [](const std::vector<std::int64_t>& values, const Shape& shape) {
    return from_vector(values, shape);
  };
  const Tensor line = tensor_of({1, 2, 3, 4, 5, 6, 7, 8}, {8});
  check_close(scatter_nd(line, at({4, 3, 1, -1}, {4, 1}), tensor_of({9, 10, 11, 12}, {4})), {1, 11, 3, 10, 9, 6, 7, 12},
              {0});
  const Tensor x = tensor_of({0, 1, 2, 3, 4, 5}, {3, 2});
  const Tensor rows = tensor_of({10, 20, 30, 40, 50, 60}, {3, 2}), index = at({2, 7, 2}, {3, 1});
  const auto check_scattered = [&](std::optional<ScatterReduction> reduction, const std::vector<double>& expected) {
    const Tensor y = scatter_nd(x, index, rows, reduction);
    check_wrong_index(y, {"[scatter_nd]", "an index is outside its axis"});
    check_close(y, {3, 2}, expected, {0});
  };
  check_scattered(std::nullopt, {0, 1, 2, 3, 50, 60});
  check_scattered(ScatterReduction::sum, {0, 1, 2, 3, 64, 85});
  check_scattered(ScatterReduction::amin, {0, 1, 2, 3, 4, 5});
  check_close(scatter_nd(x, at({1, 1}, {2}), tensor_of({7}, {})), {3, 2}, {0, 1, 2, 7, 4, 5}, {0});
  check_gradients(
      [&](const Inputs& in) {
        return scatter_nd(in[0], random_indices(13, {5, 2}, 3), in[1]);
      },
      {random_tensor(14, {3, 4, 2}), random_tensor(15, {5, 2})});
  check_gradients(
      [&](const Inputs& in) {
        return scatter_nd(in[0], random_indices(16, {5, 1}, 3), in[1], ScatterReduction::sum);
      },
      {random_tensor(17, {3, 4}), random_tensor(18, {5, 4})});
  check_error([&] { scatter_nd(x, index, zeros({3, 3})); }, {"[scatter_nd]", "(3, 2)", "(3, 3)"});
  check_error([&] { scatter_nd(x, zeros({3, 3}, DType::i64), rows); }, {"[scatter_nd]", "3 positions"});
}

}  // namespace crisol
