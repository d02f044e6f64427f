// Gradients of picking, adding, ordering, and of triangles.
#include "crisol/functions/index.h"

#include "crisol/functions/elementwise.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"
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
using testing::random_indices;
using testing::random_tensor;
using testing::tensor_of;

// The values are so far apart that a step of the gradient check does not change their order.
Tensor apart(const Shape& shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>(i * 37 % shape.numel()) * 0.1);
  return tensor_of(values, shape);
}

}  // namespace

TEST_CASE("gradients of gather and index_select, with repeated indices") {
  const Tensor x = random_tensor(1, {3, 4, 5});
  for (const int axis : {0, 1, 2, -1}) {
    CAPTURE(axis);
    Shape shape{2, 3, 4};
    const Tensor index = random_indices(2, shape, 3);
    check_gradients([&](const Inputs& in) { return gather(in[0], axis, index); }, {x});
    const Tensor row = random_indices(3, {7}, 3);
    check_gradients([&](const Inputs& in) { return index_select(in[0], axis, row); }, {x});
  }
}

TEST_CASE("gradients of scatter_add and index_add") {
  const Tensor x = random_tensor(4, {3, 4, 5});
  for (const int axis : {0, 1, -1}) {
    CAPTURE(axis);
    const Tensor index = random_indices(5, {2, 3, 4}, 3), row = random_indices(6, {7}, 3);
    check_gradients([&](const Inputs& in) { return scatter_add(in[0], axis, index, in[1]); },
                    {x, random_tensor(7, {3, 3, 4})});
    Shape shape = x.shape();
    shape[axis < 0 ? axis + 3 : axis] = 7;
    check_gradients([&](const Inputs& in) { return index_add(in[0], axis, row, in[1]); }, {x, random_tensor(8, shape)});
  }
}

TEST_CASE("gradients of embedding; the padding row gets none") {
  const Tensor weight = random_tensor(9, {6, 4}), index = random_indices(10, {3, 5}, 6);
  check_gradients([&](const Inputs& in) { return embedding(in[0], index); }, {weight});
  for (const std::int64_t padding : {2, -4}) {
    Tensor table = weight.clone().requires_grad_();
    const Tensor y = embedding(table, tensor_of({2, 0, 2, 1}, {4}, DType::i64), padding);
    CHECK(y.narrow(0, 0, 1).to_vector<float>() == weight.narrow(0, 2, 1).to_vector<float>());
    y.backward(ones({4, 4}));
    std::vector<double> expected(24, 0);
    for (std::size_t i = 0; i < 8; ++i) expected[i] = 1;
    check_close(table.grad(), expected, {0});
  }
  check_error([&] { embedding(weight, index, 6); }, {"[embedding]", "padding_idx 6", "[-6, 6)"});
  check_error([&] { embedding(weight, index, -7); }, {"[embedding]", "padding_idx -7"});
}

TEST_CASE("gradients of sort and topk") {
  const Tensor x = apart({3, 5, 4});
  for (const int axis : {0, 1, -1})
    for (const bool flag : {false, true}) {
      CAPTURE(axis);
      CAPTURE(flag);
      check_gradients([&](const Inputs& in) { return sort(in[0], axis, flag).values; }, {x});
      check_gradients([&](const Inputs& in) { return topk(in[0], 2, axis, flag).values; }, {x});
    }
  Tensor scalar = full({}, 3).requires_grad_();
  sort(scalar).values.backward();
  check_close(scalar.grad(), {1}, {0});
  const SortResult result = sort(apart({4}).requires_grad_());
  CHECK(result.values.requires_grad());
  CHECK_FALSE(result.indices.requires_grad());
}

TEST_CASE("gradients of tril and triu") {
  const Tensor x = random_tensor(11, {2, 4, 5});
  for (const std::int64_t diagonal : {0, 1, -2}) {
    check_gradients([&](const Inputs& in) { return tril(in[0], diagonal); }, {x});
    check_gradients([&](const Inputs& in) { return triu(in[0], diagonal); }, {x});
  }
}

}  // namespace crisol
