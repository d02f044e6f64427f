// rms_norm and its layer.
#include <cmath>

#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/norm.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// Rows of `size` numbers, divided by the root of the mean of their squares.
std::vector<double> rms_rows(const std::vector<double>& x, const std::vector<double>& weight, double epsilon) {
  std::vector<double> y(x.size());
  const std::size_t size = weight.size();
  for (std::size_t row = 0; row < x.size(); row += size) {
    double squares = 0;
    for (std::size_t i = 0; i < size; ++i) squares += x[row + i] * x[row + i];
    for (std::size_t i = 0; i < size; ++i)
      y[row + i] = x[row + i] / std::sqrt(squares / static_cast<double>(size) + epsilon) * weight[i];
  }
  return y;
}

}  // namespace

TEST_CASE("rms_norm divides rows by the root of the mean of their squares") {
  const std::vector<double> x = random_values(1, 24, -2, 2), weight = random_values(2, 6, 0.5, 2);
  const Tensor rows = tensor_of(x, {4, 2, 3}), w = tensor_of(weight, {2, 3});
  check_close(rms_norm(rows, {2, 3}, w, 0.1), {4, 2, 3}, rms_rows(x, weight, 0.1), {16});
  check_close(rms_norm(rows, {3}), {4, 2, 3}, rms_rows(x, {1, 1, 1}, 1.1920929e-7), {16});
  check_gradients([](const std::vector<Tensor>& in) { return rms_norm(in[0], {2, 3}, in[1], 0.1); }, {rows, w});
  // Squares of these numbers overflow in f16.
  const Tensor large = rms_norm(tensor_of({300, -400, 300, 400}, {4}, DType::f16), {4});
  CHECK(large.dtype() == DType::f16);
  const double root = std::sqrt(125000.0);
  check_close(large.to(DType::f32), {300 / root, -400 / root, 300 / root, 400 / root}, {8192});
}

TEST_CASE("RMSNorm keeps a weight of ones, and what is refused") {
  nn::RMSNorm norm({2, 3}), plain(3, {.eps = 0.5, .affine = false});
  const std::vector<double> x = random_values(4, 12, -2, 2);
  check_close(norm(tensor_of(x, {2, 2, 3})), rms_rows(x, {1, 1, 1, 1, 1, 1}, 1.1920929e-7), {16});
  check_close(plain(tensor_of(x, {4, 3})), rms_rows(x, {1, 1, 1}, 0.5), {16});
  CHECK(norm.state_dict().size() == 1);
  CHECK(norm.weight.shape() == Shape{2, 3});
  CHECK(plain.parameters().empty());
  CHECK(plain.eps() == 0.5);
  CHECK(plain.extra_repr() == "(3), eps=0.5, elementwise_affine=false");
  check_error([] { nn::RMSNorm(0); }, {"[RMSNorm]", "(0)"});
  check_error([] { rms_norm(ones({2, 3}), {2}); }, {"[rms_norm]", "(2, 3)", "(2)"});
  check_error([] { rms_norm(ones({3}), {3}, ones({2})); }, {"[rms_norm]", "weight", "(3)", "(2)"});
  check_error([] { rms_norm(ones({3}, DType::i32), {3}); }, {"[rms_norm]", "i32"});
  check_error([] { rms_norm(Tensor(), {3}); }, {"[rms_norm]", "undefined"});
}
