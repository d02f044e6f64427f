// Gradients of the normalisations.
#include "crisol/functions/norm.h"

#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("gradients of batch_norm2d") {
  const Tensor x = tensor_of(random_values(1, 48, -2, 2), {4, 3, 2, 2});
  const Tensor weight = tensor_of(random_values(2, 3, 0.5, 2), {3}), bias = tensor_of(random_values(3, 3), {3});
  const Tensor none, mean = tensor_of({0.5, -1, 0}, {3}), var = tensor_of({1, 2, 0.5}, {3});
  check_gradients([&](const std::vector<Tensor>& in) { return batch_norm2d(in[0], in[1], in[2], none, none); },
                  {x, weight, bias});
  check_gradients([&](const std::vector<Tensor>& in) { return batch_norm2d(in[0], none, none, none, none); }, {x});
  check_gradients([&](const std::vector<Tensor>& in) { return batch_norm2d(in[0], in[1], in[2], mean, var, {false}); },
                  {x, weight, bias});
  check_gradients([&](const std::vector<Tensor>& in) { return batch_norm2d(x, in[0], none, none, none); }, {weight});
  CHECK_FALSE(batch_norm2d(x, weight, bias, none, none).requires_grad());
}

TEST_CASE("batch_norm2d: a later step may change the running statistics before backward") {
  Tensor x = tensor_of(random_values(1, 12), {4, 3});
  x.requires_grad_();
  const Tensor mean = zeros({3}), var = ones({3});
  for (const bool training : {true, false}) {
    const Tensor y = batch_norm2d(x, Tensor(), Tensor(), mean, var, {training});
    batch_norm2d(x, Tensor(), Tensor(), mean, var);
    y.backward(ones({4, 3}));
  }
  CHECK(x.grad().defined());
}

TEST_CASE("gradients of layer_norm") {
  const Tensor x = tensor_of(random_values(1, 48, -2, 2), {4, 3, 4});
  const Tensor weight = tensor_of(random_values(2, 4, 0.5, 2), {4}), bias = tensor_of(random_values(3, 4), {4});
  const Tensor plane = tensor_of(random_values(4, 12, 0.5, 2), {3, 4});
  check_gradients([&](const std::vector<Tensor>& in) { return layer_norm(in[0], {4}, in[1], in[2]); },
                  {x, weight, bias});
  check_gradients([&](const std::vector<Tensor>& in) { return layer_norm(in[0], {3, 4}, in[1]); }, {x, plane});
  check_gradients([&](const std::vector<Tensor>& in) { return layer_norm(in[0], {4}); }, {x});
  check_gradients([&](const std::vector<Tensor>& in) { return layer_norm(x, {4}, Tensor(), in[0]); }, {bias});
  CHECK_FALSE(layer_norm(x, {4}, weight, bias).requires_grad());
}
