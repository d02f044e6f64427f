// Tensors of up to 25 axes, where elements move or each is computed by itself.
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

using namespace testing;

namespace {

constexpr int axes = 11;  // No two of them merge in a tensor with the axes in the opposite order.

Tensor counted() { return ops::reshape(arange(0, 1 << axes), Shape::filled(axes, 2)); }

Tensor reversed(const Tensor& x) {
  Shape order;
  for (int i = x.dim(); i-- > 0;) order.push_back(i);
  return ops::permute(x, order);
}

// The numbers of counted() in the order of reversed().
std::vector<float> expected() {
  std::vector<float> numbers;
  for (int i = 0; i < 1 << axes; ++i) {
    int mirrored = 0;
    for (int bit = 0; bit < axes; ++bit) mirrored |= (i >> bit & 1) << (axes - 1 - bit);
    numbers.push_back(static_cast<float>(mirrored));
  }
  return numbers;
}

}  // namespace

TEST_CASE("25 axes: copies and elementwise ops that no kernel walks at once") {
  const Tensor x = counted(), y = reversed(x);
  const std::vector<float> numbers = expected();
  CHECK(ops::clone(y).to_vector<float>() == numbers);
  CHECK(y.to_vector<float>() == numbers);
  CHECK(ops::cast(y, DType::i32).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  std::vector<float> sums = numbers;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<float>(i);
  CHECK(ops::add(x, y).to_vector<float>() == sums);
  const Tensor out = empty(x.shape());
  ops::add_into(reversed(out), y, x);
  CHECK(ops::clone(reversed(out)).to_vector<float>() == sums);
  ops::fill_into(reversed(out), 3);
  CHECK(out.to_vector<float>() == std::vector<float>(1 << axes, 3));
  const Tensor joined = ops::cat({y, y}, 0);
  CHECK(ops::clone(ops::narrow(joined, 0, 2, 2)).to_vector<float>() == numbers);
}

TEST_CASE("25 axes: views, and axes that merge") {
  Shape shape = Shape::filled(25, 1);
  shape[3] = shape[20] = 3;
  const Tensor x = ops::reshape(arange(0, 9), shape), y = ops::transpose(x, 3, 20);
  CHECK(ops::contiguous(y).to_vector<float>() == std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8});
  CHECK(ops::sum(x, {3}, true).to_vector<float>() == std::vector<float>{9, 12, 15});
  CHECK(ops::sum(counted()).item<float>() == (1 << axes) * ((1 << axes) - 1) / 2);
  CHECK(ops::sum(reversed(counted()), {0}).dim() == axes - 1);
  CHECK(ops::reshape(x, {9}).to_vector<float>() == arange(0, 9).to_vector<float>());
  check_error([&] { ops::unsqueeze(x, 0); }, {"at most 25", "26"});
}

TEST_CASE("25 axes: an op that needs fewer axes refuses them") {
  const Tensor x = zeros(Shape::filled(18, 2));
  Shape every_other;
  for (int i = 0; i < 18; i += 2) every_other.push_back(i);
  check_error([&] { ops::sum(x, every_other); }, {"[sum]", "9 axes that cannot be merged", "at most 8"});
}

}  // namespace crisol
