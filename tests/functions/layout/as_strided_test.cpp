// as_strided: views of any sizes and strides, and their gradient.
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;

namespace {

std::vector<float> numbers(const Tensor& x) { return x.to_vector<float>(); }

}  // namespace

TEST_CASE("as_strided: windows, diagonals, repeats and offsets") {
  const Tensor x = arange(0, 12).reshape({3, 4});
  CHECK(numbers(as_strided(x, {5, 3}, {2, 1})) == std::vector<float>{0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10});
  CHECK(numbers(as_strided(x, {3}, {5})) == std::vector<float>{0, 5, 10});
  CHECK(numbers(as_strided(x, {2, 2}, {0, 3}, 4)) == std::vector<float>{4, 7, 4, 7});
  CHECK(as_strided(x, {}, {}, 11).item<float>() == 11);
  CHECK(as_strided(x, {0, 5}, {1, 100}, 12).numel() == 0);
  const Tensor row = x[1];
  CHECK(numbers(as_strided(row, {2}, {1})) == std::vector<float>{4, 5});  // It begins where the row begins.
  CHECK(numbers(as_strided(row, {2}, {1}, 0)) == std::vector<float>{0, 1});
  CHECK(as_strided(row, {2}, {1}).offset() == 4);
  CHECK(numbers(as_strided(x.t(), {2, 3}, {1, 4}).contiguous()) == std::vector<float>{0, 4, 8, 1, 5, 9});
}

TEST_CASE("as_strided: gradients, also of places that are read several times") {
  const auto windows = [](const std::vector<Tensor>& in) { return sin(as_strided(in[0], {4, 3}, {2, 1}, 1)); };
  check_gradients(windows, {tensor_of(random_values(1, 12), {3, 4})});
  check_gradients([&](const std::vector<Tensor>& in) { return windows({in[0].t()}); },
                  {tensor_of(random_values(2, 12), {3, 4})});
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return sin(as_strided(in[0].expand({3, 4}), {2, 3}, {0, 1}));
      },
      {tensor_of(random_values(3, 4), {4})});
  check_gradients(
      [](const std::vector<Tensor>& in) {
        return sin(as_strided(in[0].narrow(0, 1, 2), {2, 2}, {4, 1}));
      },
      {tensor_of(random_values(4, 12), {3, 4})});
}

TEST_CASE("as_strided: a write in place goes to the tensor, and has a gradient") {
  const Tensor x = zeros({3, 4});
  as_strided(x, {3}, {5}).fill_(2);
  CHECK(numbers(x) == std::vector<float>{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0});
  check_gradients(
      [](const std::vector<Tensor>& in) {
        Tensor y = in[0].clone();
        as_strided(y, {3}, {5}).mul_(in[1]);
        return sin(y);
      },
      {tensor_of(random_values(5, 12), {3, 4}), tensor_of(random_values(6, 3), {3})});
}

TEST_CASE("as_strided refuses what leaves the memory, and writes to windows that overlap") {
  const Tensor x = arange(0, 12).reshape({3, 4});
  check_error([&] { as_strided(Tensor(), {2}, {1}); }, {"[as_strided]", "undefined"});
  check_error([&] { as_strided(x, {2}, {1, 1}); }, {"[as_strided]", "2 strides", "(2)"});
  check_error([&] { as_strided(x, {-2}, {1}); }, {"[as_strided]", "(-2)"});
  check_error([&] { as_strided(x, {2}, {-1}, 5); }, {"[as_strided]", "-1"});
  check_error([&] { as_strided(x, {2}, {1}, -1); }, {"[as_strided]", "offset -1"});
  check_error([&] { as_strided(x, {4, 4}, {3, 1}); }, {"[as_strided]", "(4, 4)", "(3, 1)", "12 elements"});
  check_error([&] { as_strided(x, {}, {}, 12); }, {"[as_strided]", "12 elements"});
  check_error([&] { as_strided(x, {1LL << 40}, {1LL << 40}); }, {"[as_strided]", "12 elements"});
  check_error([&] { as_strided(x[1].detach(), {2}, {1}, 0); }, {"[as_strided]", "leave the tensor"});
  for (const auto& [shape, strides] : {std::pair(Shape{5, 3}, Shape{2, 1}), std::pair(Shape{2, 2}, Shape{3, 3})}) {
    const Tensor windows = ops::as_strided(x, shape, strides);
    check_error([&] { ops::fill_into(windows, 1); }, {"several of its indices mean the same element"});
    check_error([&] { ops::copy_into(windows, zeros(shape)); }, {"several of its indices"});
  }
  ops::fill_into(ops::as_strided(x, {3, 2}, {2, 3}), 5);  // The elements 0 2 4 3 5 7: each once.
  CHECK(numbers(x) == std::vector<float>{5, 1, 5, 5, 5, 5, 6, 5, 8, 9, 10, 11});
}

}  // namespace crisol
