// all_reduce, broadcast, all_gather and reduce_scatter against loops on the host, which know what each rank gives.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

template <class T>
T value_of(int rank, std::int64_t i) {
  const std::int64_t n = (i * 37 + rank * 101 + i / 7) % 251 - (std::is_unsigned_v<T> ? 0 : 120);
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(n) * 0.37f;
  if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(n) * 0.25f);
  if constexpr (std::is_same_v<T, bool>) return n % 3 == 0;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return static_cast<T>(n);
}

template <class T>
std::vector<T> values_of(int rank, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(value_of<T>(rank, i));
  return values;
}

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

/// The expected result in double. Whole numbers wrap around to their type.
template <class T>
double combined(dist::ReduceOp op, std::int64_t i) {
  double sum = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  for (int r = 0; r < dist::world(); ++r) {
    const double v = number(value_of<T>(r, i));
    sum += v;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  switch (op) {
    case dist::ReduceOp::sum: return std::is_same_v<T, bool> ? most : sum;
    case dist::ReduceOp::mean: return sum / dist::world();
    case dist::ReduceOp::min: return least;
    case dist::ReduceOp::max: return most;
  }
  return 0;
}

template <class T>
void check_value(double expected, T got) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    expected = static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(expected)));
  const double tolerance = std::is_same_v<T, float> ? 1e-6 : std::is_same_v<T, Half> ? 1e-3 : 0;
  CHECK(std::abs(number(got) - expected) <= tolerance * (1 + std::abs(expected)));
}

const std::vector<dist::ReduceOp> every_op{dist::ReduceOp::sum, dist::ReduceOp::mean, dist::ReduceOp::min,
                                           dist::ReduceOp::max};

template <class T>
void check_all_reduce(std::int64_t count) {
  CAPTURE(count);
  CAPTURE(name_of(dtype_of<T>()));
  for (const dist::ReduceOp op : every_op) {
    if (op == dist::ReduceOp::mean && !is_floating(dtype_of<T>())) continue;
    Tensor x = from_vector(values_of<T>(dist::rank(), count));
    dist::all_reduce(x, op);
    const std::vector<T> got = x.to_vector<T>();
    for (std::int64_t i = 0; i < count; i += 1 + count / 500)
      check_value<T>(combined<T>(op, i), static_cast<T>(got[static_cast<std::size_t>(i)]));
  }
}

template <class T>
void check_others(std::int64_t rows) {
  CAPTURE(rows);
  CAPTURE(name_of(dtype_of<T>()));
  const int world = dist::world(), rank = dist::rank();
  for (int root = 0; root < world; ++root) {
    Tensor x = from_vector(values_of<T>(rank, rows * 3), Shape{rows, 3});
    dist::broadcast(x, root);
    CHECK(x.to_vector<T>().size() == static_cast<std::size_t>(rows * 3));
    const std::vector<T> got = x.to_vector<T>(), expected = values_of<T>(root, rows * 3);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(number<T>(got[i]) == number<T>(expected[i]));
  }
  const Tensor all = dist::all_gather(from_vector(values_of<T>(rank, rows * 3), Shape{rows, 3}));
  CHECK(all.shape() == Shape{rows * world, 3});
  const std::vector<T> got = all.to_vector<T>();
  for (int r = 0; r < world; ++r)
    for (std::int64_t i = 0; i < rows * 3; ++i)
      CHECK(number<T>(got[static_cast<std::size_t>(r * rows * 3 + i)]) == number<T>(value_of<T>(r, i)));
  const Tensor part = dist::reduce_scatter(from_vector(values_of<T>(rank, rows * world * 3), Shape{rows * world, 3}),
                                           dist::ReduceOp::max);
  CHECK(part.shape() == Shape{rows, 3});
  const std::vector<T> own = part.to_vector<T>();
  for (std::int64_t i = 0; i < rows * 3; ++i)
    check_value<T>(combined<T>(dist::ReduceOp::max, rank * rows * 3 + i),
                   static_cast<T>(own[static_cast<std::size_t>(i)]));
}

}  // namespace

TEST_CASE("dist: all_reduce of every element type and size") {
  for (const std::int64_t count : {0, 1, 3, 1000, 70001}) {
    check_all_reduce<float>(count);
    check_all_reduce<Half>(count);
    check_all_reduce<std::int32_t>(count);
    check_all_reduce<std::int64_t>(count);
    check_all_reduce<std::uint8_t>(count);
    check_all_reduce<bool>(count);
  }
}

TEST_CASE("dist: more elements than one piece") {
  const std::int64_t count = (std::int64_t{64} << 20) / 4 + 12345;
  Tensor x = full({count}, dist::rank() + 1.0);
  dist::all_reduce(x);
  const double sum = dist::world() * (dist::world() + 1) / 2.0;
  CHECK(x.min().item<double>() == sum);
  CHECK(x.max().item<double>() == sum);
}

TEST_CASE("dist: broadcast, all_gather and reduce_scatter") {
  for (const std::int64_t rows : {0, 1, 5, 12000}) {
    check_others<float>(rows);
    check_others<Half>(rows);
    check_others<std::int32_t>(rows);
    check_others<std::int64_t>(rows);
    check_others<std::uint8_t>(rows);
    check_others<bool>(rows);
  }
}

TEST_CASE("dist: f32 is added in the order of the ranks, to the last bit") {
  for (const std::int64_t count : {100, 50000}) {
    const auto value = [](int rank, std::int64_t i) {
      return std::sin(static_cast<float>(i * 31 + rank * 17)) * std::pow(10.0f, static_cast<float>((i + rank) % 7));
    };
    std::vector<float> own;
    for (std::int64_t i = 0; i < count; ++i) own.push_back(value(dist::rank(), i));
    Tensor x = from_vector(own);
    dist::all_reduce(x);
    const std::vector<float> got = x.to_vector<float>();
    bool same = true;
    for (std::int64_t i = 0; i < count; ++i) {
      float sum = value(0, i);
      for (int r = 1; r < dist::world(); ++r) sum += value(r, i);
      same = same && std::memcmp(&sum, &got[static_cast<std::size_t>(i)], sizeof sum) == 0;
    }
    CHECK(same);
  }
}

TEST_CASE("dist: f16 is added in f32 and rounded once") {
  // Of 1 on rank 0 and half a unit in its last place on each other rank, f16 alone would add nothing.
  const float half_unit = std::ldexp(1.0f, -11);
  for (const std::int64_t count : {1, 3000}) {
    Tensor x = full({count}, dist::rank() == 0 ? 1.0 : static_cast<double>(half_unit), DType::f16);
    dist::all_reduce(x);
    const Half expected(1.0f + half_unit * static_cast<float>(dist::world() - 1));
    for (const Half value : x.to_vector<Half>()) CHECK(static_cast<float>(value) == static_cast<float>(expected));
  }
}

TEST_CASE("dist: strided views, scalars and NaN") {
  Tensor whole = zeros({4, 6});
  Tensor view = whole.narrow(1, 1, 3).transpose(0, 1);
  view.copy_from(full({3, 4}, dist::rank() + 1.0));
  dist::all_reduce(view);
  const double sum = dist::world() * (dist::world() + 1) / 2.0;
  CHECK(whole.sum().item<double>() == 12 * sum);
  CHECK(whole.select(1, 0).sum().item<double>() == 0);
  Tensor scalar = full({}, dist::rank());
  dist::all_reduce(scalar, dist::ReduceOp::mean);
  CHECK(scalar.item<double>() == doctest::Approx((dist::world() - 1) / 2.0));
  for (const dist::ReduceOp op : every_op) {
    Tensor nan = full({2}, dist::rank() == 0 ? std::nan("") : 1.0);
    dist::all_reduce(nan, op);
    CHECK(std::isnan(nan.to_vector<float>()[1]));
  }
}

TEST_CASE("dist: what the ranks call is compared, and nothing is changed") {
  const bool first = dist::rank() == 0;
  Tensor x = full({4}, 7.0);
  if (dist::world() > 1) {
    check_error([&] { dist::all_reduce(first ? x : full({5}, 7.0)); },
                {"[all_reduce] the ranks differ in what they call: rank 0: all_reduce sum of f32 (4); rank 1: "
                 "all_reduce sum of f32 (5)"});
    check_error([&] { first ? dist::all_reduce(x) : dist::broadcast(x); },
                {"rank 0: all_reduce sum of f32 (4); rank 1: broadcast from rank 0 of f32 (4)"});
    check_error([&] { dist::all_reduce(x, first ? dist::ReduceOp::min : dist::ReduceOp::max); },
                {"rank 0: all_reduce min of f32 (4); rank 1: all_reduce max of f32 (4)"});
    check_error([&] { first ? dist::barrier() : dist::all_reduce(x); }, {"rank 0: barrier; rank 1: all_reduce"});
  }
  check_error([&] { dist::all_reduce(zeros({2}, DType::i32), dist::ReduceOp::mean); }, {"[all_reduce] a mean of i32"});
  check_error([&] { dist::broadcast(x, dist::world()); }, {"[broadcast] root"});
  check_error([&] { dist::all_gather(zeros({})); }, {"[all_gather] a tensor without axes"});
  check_error([&] { dist::all_reduce(Tensor()); }, {"[all_reduce] the tensor is undefined"});
  if (dist::world() > 1)
    check_error([&] { dist::reduce_scatter(zeros({dist::world() + 1, 2})); }, {"cannot be cut into"});
  Tensor leaf = full({4}, 7.0).requires_grad_();
  check_error([&] { dist::all_reduce(leaf); }, {"grad"});
  CHECK(x.sum().item<double>() == 28);
  CHECK(leaf.sum().item<double>() == 28);
  dist::barrier();
}
