// searchsorted, isin, repeat_interleave, diff, cumulative_sum, cumulative_prod and count_nonzero.
#include <algorithm>
#include <cmath>

#include "crisol/functions/reduce.h"
#include "crisol/functions/select.h"
#include "crisol/functions/sort.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using Inputs = std::vector<Tensor>;
using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::random_integers;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using Numbers = std::vector<double>;

constexpr DType numbers[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8};

bool below(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

Numbers places(const Numbers& sorted, const Numbers& values, bool right) {
  Numbers all;
  for (const double value : values) {
    const auto place = right ? std::upper_bound(sorted.begin(), sorted.end(), value, below)
                             : std::lower_bound(sorted.begin(), sorted.end(), value, below);
    all.push_back(static_cast<double>(place - sorted.begin()));
  }
  return all;
}

}  // namespace

TEST_CASE("searchsorted: both sides, every dtype, many sizes") {
  for (const DType dtype : numbers)
    for (const std::int64_t count : {0, 1, 2, 77}) {
      CAPTURE(dtype);
      CAPTURE(count);
      Numbers sorted = random_integers(1, count, 0, 30);
      std::sort(sorted.begin(), sorted.end());
      const Numbers values = random_integers(2, 60, 0, 33);
      for (const bool right : {false, true})
        check_close(searchsorted(tensor_of(sorted, {count}, dtype), tensor_of(values, {3, 20}, dtype), right), {3, 20},
                    places(sorted, values, right), {0});
    }
}

TEST_CASE("searchsorted: NaN, infinity, large numbers, promotion, a sorter, refusals") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Numbers sorted{-inf, -1, 0, 0, 2, inf, nan, nan}, values{nan, inf, -inf, 0, 1, -0.0, 3};
  for (const bool right : {false, true})
    check_close(searchsorted(tensor_of(sorted, {8}), tensor_of(values, {7}), right), places(sorted, values, right),
                {0});
  constexpr std::int64_t large = std::int64_t{1} << 53;
  const Tensor whole = from_vector<std::int64_t>({large, large + 1, large + 2});
  CHECK(searchsorted(whole, whole).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
  CHECK(searchsorted(from_vector<std::int32_t>({1, 2, 3}), tensor_of({2.5}, {})).item<int>() == 2);
  const Tensor mixed = tensor_of({3, 1, 2}, {3}), order = argsort(mixed);
  CHECK(searchsorted(mixed, tensor_of({2}, {}), true, order).item<int>() == 2);
  CHECK(searchsorted(mixed, zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(!searchsorted(mixed, ones({2}).requires_grad_()).requires_grad());
  check_error([&] { searchsorted(zeros({2, 2}), mixed); }, {"[searchsorted]", "rank 1", "(2, 2)"});
  check_error([&] { searchsorted(mixed, mixed, false, zeros({2}, DType::i64)); }, {"[searchsorted]", "sorter", "(2)"});
  check_error([&] { searchsorted(Tensor(), mixed); }, {"[searchsorted]", "undefined"});
}

TEST_CASE("isin: every dtype, no values, NaN") {
  for (const DType dtype : numbers)
    for (const std::int64_t count : {0, 1, 20}) {
      const Numbers x = random_integers(3, 63, 0, 40), values = random_integers(4, count, 0, 40);
      Numbers wanted, opposite;
      for (const double one : x) {
        wanted.push_back(std::count(values.begin(), values.end(), one) > 0 ? 1 : 0);
        opposite.push_back(1 - wanted.back());
      }
      const Tensor t = tensor_of(x, {7, 9}, dtype), list = tensor_of(values, {count}, dtype);
      check_close(isin(t, list), {7, 9}, wanted, {0});
      check_close(isin(t, list, true), {7, 9}, opposite, {0});
    }
  const double nan = std::nan("");
  check_close(isin(tensor_of({nan, 1, 2}, {3}), tensor_of({2, nan}, {2})), {0, 0, 1}, {0});
  check_close(isin(tensor_of({nan, 1, 2}, {3}), tensor_of({2, nan}, {2}), true), {1, 1, 0}, {0});
  check_close(isin(tensor_of({1, 0}, {2}, DType::boolean), ones({1, 1}, DType::boolean)), {1, 0}, {0});
  CHECK(isin(tensor_of({2}, {}), from_vector<std::int32_t>({1, 2})).item<int>() == 1);
  check_error([&] { isin(Tensor(), ones({1})); }, {"[isin]", "undefined"});
}

TEST_CASE("repeat_interleave: one count, a count for each slice, gradients, refusals") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  check_close(repeat_interleave(x, 2), {12}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}, {0});
  check_close(repeat_interleave(x, 2, 1), {2, 6}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}, {0});
  check_close(repeat_interleave(x, 2, 0), {4, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, {0});
  CHECK(repeat_interleave(x, 0, -1).shape() == Shape{2, 0});
  CHECK(!repeat_interleave(x, 1, 0).shares_storage_with(x));
  for (const DType dtype : {DType::i64, DType::i32, DType::u8}) {
    check_close(repeat_interleave(x, tensor_of({2, 0, 1}, {3}, dtype), 1), {2, 3}, {1, 1, 3, 4, 4, 6}, {0});
    check_close(repeat_interleave(x, tensor_of({3}, {1}, dtype), -2).narrow(0, 2, 2), {2, 3}, {1, 2, 3, 4, 5, 6}, {0});
  }
  check_close(repeat_interleave(x, tensor_of({0, 1, 0, 2, 0, 0}, {6}, DType::i64)), {3}, {2, 4, 4}, {0});
  CHECK(repeat_interleave(x, zeros({3}, DType::i64), 1).shape() == Shape{2, 0});
  CHECK(repeat_interleave(zeros({0, 2}), zeros({0}, DType::i64), 0).shape() == Shape{0, 2});
  check_close(repeat_interleave(tensor_of({7}, {}), 3), {3}, {7, 7, 7}, {0});
  const Tensor counts = tensor_of({2, 0, 1}, {3}, DType::i64);
  check_gradients([&](const Inputs& in) { return repeat_interleave(in[0], counts, 1); }, {x});
  check_gradients([&](const Inputs& in) { return repeat_interleave(in[0], 3, 0); }, {x});
  check_error([&] { repeat_interleave(x, -1, 0); }, {"[repeat_interleave]", "-1", "negative"});
  check_error([&] { repeat_interleave(x, tensor_of({2, -3, 1}, {3}, DType::i32), 1); }, {"[repeat_interleave]", "-3"});
  check_error([&] { repeat_interleave(x, zeros({2}, DType::i64), 1); }, {"[repeat_interleave]", "(2)", "3 slices"});
  check_error([&] { repeat_interleave(x, zeros({3}), 1); }, {"[repeat_interleave]", "f32"});
}

TEST_CASE("diff: every dtype, several times, with more in front and behind") {
  for (const DType dtype : numbers) {
    CAPTURE(dtype);
    const Numbers x = random_integers(5, 30, 0, 50);
    Numbers sums = x;  // Running sums do not fall, so u8 does not wrap around.
    for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = std::min(250.0, sums[i - 1] + std::fmod(x[i], 9));
    Numbers wanted;
    for (std::size_t i = 1; i < sums.size(); ++i) wanted.push_back(sums[i] - sums[i - 1]);
    const Tensor y = diff(tensor_of(sums, {30}, dtype));
    CHECK(y.dtype() == dtype);
    check_close(y, {29}, wanted, {0});
  }
  const Tensor x = tensor_of({1, 4, 9, 16, 25, 36}, {2, 3});
  check_close(diff(x, 2), {2, 1}, {2, 2}, {0});
  check_close(diff(x, 1, 0), {1, 3}, {15, 21, 27}, {0});
  CHECK(diff(x, 5).shape() == Shape{2, 0});
  check_close(diff(x, 0), {2, 3}, values_of(x), {0});
  CHECK(!diff(x, 0).shares_storage_with(x));
  check_close(diff(x, 1, -1, zeros({2, 1}), full({2, 2}, 40)), {2, 5}, {1, 3, 5, 31, 0, 16, 9, 11, 4, 0}, {0});
  check_close(diff(tensor_of({0, 1, 1, 0}, {4}, DType::boolean)), {1, 0, 1}, {0});
  check_gradients([](const Inputs& in) { return diff(in[0], 2, 0, in[1]); },
                  {tensor_of(random_values(6, 12), {4, 3}), tensor_of(random_values(7, 3), {1, 3})});
  check_error([&] { diff(x, -1); }, {"[diff]", "-1"});
  check_error([&] { diff(x, 1, 2); }, {"[diff]", "2"});
  check_error([&] { diff(x, 1, 0, zeros({1, 3}, DType::i32)); }, {"i32", "f32"});
}

TEST_CASE("cumulative_sum, cumulative_prod and count_nonzero") {
  const Tensor x = tensor_of({1, 2, 3, 4, 0, 6}, {2, 3}, DType::u8);
  const Tensor sums = cumulative_sum(x, 1, true), products = cumulative_prod(x, -2, true);
  CHECK(sums.dtype() == DType::i64);
  check_close(sums, {2, 4}, {0, 1, 3, 6, 0, 4, 4, 10}, {0});
  check_close(products, {3, 3}, {1, 1, 1, 1, 2, 3, 4, 0, 18}, {0});
  check_close(cumulative_sum(x, 0), {2, 3}, {1, 2, 3, 5, 2, 9}, {0});
  check_close(cumulative_sum(zeros({2, 0}), 1, true), {2, 1}, {0, 0}, {0});
  check_gradients([](const Inputs& in) { return cumulative_sum(in[0], 1, true); },
                  {tensor_of(random_values(8, 6), {2, 3})});
  CHECK(count_nonzero(x).item<int>() == 5);
  check_close(count_nonzero(x, {0}, true), {1, 3}, {2, 1, 2}, {0});
  CHECK(count_nonzero(tensor_of({std::nan(""), 0, -0.0}, {3})).item<int>() == 1);
  CHECK(count_nonzero(ones({7}, DType::boolean)).dtype() == DType::i64);
  CHECK(count_nonzero(zeros({0})).item<int>() == 0);
  check_error([] { count_nonzero(Tensor()); }, {"[count_nonzero]", "undefined"});
}

}  // namespace crisol
