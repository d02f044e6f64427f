// diagonal, matrix_trace, outer, vecdot, tensordot, cross, and products of whole numbers and of f16.
#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

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
using Longs = std::vector<std::int64_t>;

Tensor some(std::uint64_t seed, const Shape& shape) { return tensor_of(random_values(seed, shape.numel()), shape); }

std::int64_t wrapped(std::uint64_t value, DType dtype) {
  if (dtype == DType::u8) return static_cast<std::uint8_t>(value);
  return dtype == DType::i32 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// Numbers that use all bits of the dtype.
Longs wide(std::uint64_t seed, std::int64_t count, DType dtype) {
  Longs all;
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    all.push_back(wrapped(state ^ state >> 29, dtype));
  }
  return all;
}

void check_whole_product(std::int64_t m, std::int64_t k, std::int64_t n, DType dtype) {
  CAPTURE(m);
  CAPTURE(k);
  CAPTURE(n);
  CAPTURE(dtype);
  const Longs a = wide(1, m * k, dtype), b = wide(2, k * n, dtype);
  Longs wanted;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::uint64_t sum = 0;
      for (std::int64_t s = 0; s < k; ++s)
        sum += static_cast<std::uint64_t>(a[static_cast<std::size_t>(i * k + s)]) *
               static_cast<std::uint64_t>(b[static_cast<std::size_t>(s * n + j)]);
      wanted.push_back(wrapped(sum, dtype));
    }
  const Tensor left = from_vector(a, {m, k}).to(dtype), right = from_vector(b, {k, n}).to(dtype);
  const Tensor y = matmul(left, right);
  CHECK(y.dtype() == dtype);
  CHECK(y.shape() == Shape{m, n});
  CHECK(y.to(DType::i64).to_vector<std::int64_t>() == wanted);
  const Tensor transposed = matmul(left.t().contiguous().t(), right.t().contiguous().t());
  CHECK(transposed.to(DType::i64).to_vector<std::int64_t>() == wanted);
}

}  // namespace

TEST_CASE("matmul: whole numbers are exact modulo their size") {
  for (const DType dtype : {DType::i32, DType::i64, DType::u8}) {
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 2}, {4, 16, 16}, {9, 7, 33}, {5, 0, 3}})
      check_whole_product(m, k, n, dtype);
    if (!testing::slow_device()) check_whole_product(6, 2100, 35, dtype);
  }
}

TEST_CASE("matmul: whole numbers with leading axes, views and vectors") {
  const Tensor a = tensor_of(random_integers(3, 48, -9, 9), {2, 1, 4, 6}, DType::i32);
  const Tensor b = tensor_of(random_integers(4, 90, -9, 9), {3, 6, 5}, DType::i32);
  const Tensor y = matmul(a, b), real = matmul(a.to(DType::f32), b.to(DType::f32));
  check_close(y, {2, 3, 4, 5}, values_of(real), {0});
  const Tensor part = b[{Slice(), Slice(1, 5), Slice(0, 5, 2)}], rows = a[{Slice(), Slice(), Slice(), Slice(0, 6, 2)}];
  const Tensor views = matmul(rows.narrow(3, 0, 3), part.narrow(1, 0, 3));
  check_close(views, values_of(matmul(rows.narrow(3, 0, 3).to(DType::f32), part.narrow(1, 0, 3).to(DType::f32))), {0});
  const Tensor line = tensor_of({1, 2, 3}, {3}, DType::i64);
  CHECK(matmul(line, line).item<int>() == 14);
  CHECK(matmul(line, line).dtype() == DType::i64);
  CHECK(matmul(ones({2, 3}, DType::i64), line).shape() == Shape{2});
  CHECK(matmul(zeros({0, 3}, DType::u8), zeros({3, 2}, DType::u8)).shape() == Shape{0, 2});
  check_error([&] { matmul(line, ones({3})); }, {"[matmul]", "one dtype", "i64", "f32"});
  check_error([&] { matmul(ones({2, 2}, DType::boolean), ones({2, 2}, DType::boolean)); }, {"[matmul]", "bool"});
}

TEST_CASE("matmul: f16 is computed in f32") {
  const Tensor a = some(5, {5, 33}).to(DType::f16), b = some(6, {33, 7}).to(DType::f16);
  const Tensor y = matmul(a, b);
  CHECK(y.dtype() == DType::f16);
  check_close(y, values_of(matmul(a.to(DType::f32), b.to(DType::f32)).to(DType::f16)), {0});
  Tensor leaf = a.clone().requires_grad_();
  matmul(leaf, b).backward(ones({5, 7}, DType::f16));
  CHECK(leaf.grad().dtype() == DType::f16);
  check_close(leaf.grad(), values_of(matmul(ones({5, 7}, DType::f16), b.t())), {10000});
}

TEST_CASE("diagonal and matrix_trace: every offset and pair of axes, views, gradients") {
  const Shape shape{3, 4, 2};
  const Numbers v = random_values(7, 24);
  const Tensor x = tensor_of(v, shape);
  for (const auto& [a, b] : {std::array<int, 2>{0, 1}, {1, 0}, {0, 2}, {-1, -2}})
    for (std::int64_t offset = -5; offset <= 5; ++offset) {
      CAPTURE(a);
      CAPTURE(b);
      CAPTURE(offset);
      const int first = a < 0 ? a + 3 : a, second = b < 0 ? b + 3 : b, other = 3 - first - second;
      Numbers wanted;
      std::int64_t length = 0;
      for (std::int64_t o = 0; o < shape[other]; ++o) {
        length = 0;
        for (std::int64_t i = 0; i < shape[first]; ++i)
          for (std::int64_t j = 0; j < shape[second]; ++j) {
            if (j - i != offset) continue;
            std::array<std::int64_t, 3> at{};
            at[static_cast<std::size_t>(first)] = i;
            at[static_cast<std::size_t>(second)] = j;
            at[static_cast<std::size_t>(other)] = o;
            wanted.push_back(v[static_cast<std::size_t>((at[0] * 4 + at[1]) * 2 + at[2])]);
            ++length;
          }
      }
      check_close(diagonal(x, offset, a, b), {shape[other], length}, wanted, {0});
    }
  Tensor square = zeros({3, 3}, DType::i32);
  diagonal(square).fill_(4);
  CHECK(matrix_trace(square).item<int>() == 12);
  CHECK(matrix_trace(square).dtype() == DType::i64);
  check_close(matrix_trace(x, 1), {3}, {v[1], v[9], v[17]}, {0});
  check_gradients([](const Inputs& in) { return diagonal(in[0], -1, 1, 2); }, {x});
  check_gradients([](const Inputs& in) { return matrix_trace(in[0], 0); }, {x});
  check_error([&] { diagonal(x, 0, 1, -2); }, {"[diagonal]", "axis 1", "(3, 4, 2)"});
  check_error([&] { diagonal(ones({3})); }, {"[diagonal]"});
  check_error([&] { matrix_trace(ones({3})); }, {"[matrix_trace]", "(3)"});
  CHECK(matrix_transpose(x).shape() == Shape{3, 2, 4});
  check_error([&] { matrix_transpose(ones({3})); }, {"[matrix_transpose]", "(3)"});
}

TEST_CASE("outer, vecdot and cross") {
  const Tensor a = tensor_of({1, 2, 3}, {3}), b = tensor_of({4, 5}, {2});
  check_close(outer(a, b), {3, 2}, {4, 5, 8, 10, 12, 15}, {0});
  CHECK(outer(a, b.to(DType::i32)).dtype() == DType::f32);
  const Tensor x = some(8, {2, 1, 3}), y = some(9, {4, 3});
  check_close(vecdot(x, y), {2, 4}, values_of(sum(x * y, {-1})), {8});
  check_close(vecdot(some(8, {3, 2}), some(9, {3, 2}), -2), {2}, values_of(sum(some(8, {3, 2}) * some(9, {3, 2}), {0})),
              {8});
  const Tensor whole = tensor_of({100, 100, 100}, {3}, DType::u8);
  CHECK(vecdot(whole, whole).dtype() == DType::u8);
  CHECK(vecdot(whole, whole).item<int>() == 30000 % 256);
  CHECK(vecdot(zeros({2, 0}), zeros({2, 0})).shape() == Shape{2});
  check_close(cross(tensor_of({1, 2, 3}, {3}), tensor_of({4, 5, 6}, {3})), {-3, 6, -3}, {0});
  const Tensor p = some(10, {2, 3, 1}), q = some(11, {3, 4}), r = cross(p, q, -2);
  CHECK(r.shape() == Shape{2, 3, 4});
  check_close(sum(r * p, {1}), {2, 4}, Numbers(8), {8, 1});
  check_close(sum(r * q, {1}), {2, 4}, Numbers(8), {8, 1});
  CHECK(cross(tensor_of({1, 0, 0}, {3}, DType::i64), tensor_of({0, 1, 0}, {3}, DType::i64)).to_vector<std::int64_t>() ==
        Longs{0, 0, 1});
  check_gradients([](const Inputs& in) { return cross(in[0], in[1], -2); }, {p, q});
  check_gradients([](const Inputs& in) { return vecdot(in[0], in[1]); }, {x, y});
  check_gradients([](const Inputs& in) { return outer(in[0], in[1]); }, {a, b});
  check_error([&] { outer(x, a); }, {"[outer]", "rank 1", "(2, 1, 3)"});
  check_error([&] { vecdot(a, b); }, {"[vecdot]", "(3)", "(2)"});
  check_error([&] { vecdot(a, a, 0); }, {"[vecdot]", "axis 0"});
  check_error([&] { cross(b, b); }, {"[cross]", "3 elements", "(2)"});
}

TEST_CASE("tensordot: the last and first axes, pairs of axes, dtypes, gradients") {
  const Tensor a = some(12, {2, 3, 4}), b = some(13, {3, 4, 5});
  Numbers wanted;
  const Numbers va = values_of(a), vb = values_of(b);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t n = 0; n < 5; ++n) {
      double sum = 0;
      for (std::size_t s = 0; s < 12; ++s) sum += va[i * 12 + s] * vb[s * 5 + n];
      wanted.push_back(sum);
    }
  check_close(tensordot(a, b), {2, 5}, wanted, {32});
  check_close(tensordot(a.permute({2, 0, 1}), b.permute({2, 1, 0}), {0, -1}, {1, 2}), {2, 5}, wanted, {32});
  const Tensor pairs = tensordot(tensor_of({1, 2}, {2}), tensor_of({3, 4}, {2}), 0);
  check_close(pairs, {2, 2}, {3, 4, 6, 8}, {0});
  CHECK(tensordot(ones({2, 3}, DType::i32), ones({3}, DType::i32), 1).dtype() == DType::i32);
  CHECK(tensordot(ones({4}), ones({4}), 1).shape() == Shape{});
  check_gradients([](const Inputs& in) { return tensordot(in[0], in[1], {1}, {0}); }, {a, b});
  check_error([&] { tensordot(a, b, 1); }, {"[tensordot]", "(2, 3, 4)", "(3, 4, 5)", "different sizes"});
  check_error([&] { tensordot(a, b, 4); }, {"[tensordot]", "4 axes"});
  check_error([&] { tensordot(a, b, {1, 1}, {0, 0}); }, {"[tensordot]", "twice"});
  check_error([&] { tensordot(a, b, {1}, {0, 1}); }, {"[tensordot]", "1 axes", "2 axes"});
}

}  // namespace crisol
