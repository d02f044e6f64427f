// Random tensors: crisol/random.h and crisol/ops/random.h.
#include "crisol/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/random.h"
#include "ops/random/draw.h"
#include "ops/result.h"
#include "tensor/grad_mode.h"

namespace crisol {

namespace {

runtime::BuiltKernel& kernel_of(const Generator& generator, std::string_view file, std::string_view entry) {
  return runtime::resolve(state_of(generator.impl().state), {file, entry});
}

using ops::Result;

// The largest number of a dtype below `most`, but at least `least`. For halves a part of the distance between two
// halves is taken away, so that the conversion rounds to the half below `most`.
float last_below(float most, float least, DType dtype) {
  if (!is_half(dtype)) return least < most ? std::nextafterf(most, least) : most;
  const auto step = static_cast<float>(epsilon_of(dtype) * (most > 0 ? 0.5 : 1));
  return std::max(least, most - std::abs(most) * step);
}

// Numbers below `high`, also when they are converted to the dtype.
Tensor uniform(Result result, double low, double high, const Generator& generator, DType dtype) {
  const auto least = static_cast<float>(low), most = static_cast<float>(high);
  const float top = last_below(most, least, dtype);
  const std::int64_t count = result.place().numel();
  ops::draw(generator, kernel_of(generator, "random/random_uniform.cl", "random_uniform"), count, out(result), count,
            least, most - least, top);
  return result.done();
}

Tensor normal(Result result, double mean, double deviation, const Generator& generator) {
  const std::int64_t count = result.place().numel();
  ops::draw(generator, kernel_of(generator, "random/random_normal.cl", "random_normal"), count, out(result), count,
            static_cast<float>(mean), static_cast<float>(deviation));
  return result.done();
}

Tensor integers(std::int64_t low, std::int64_t high, const Shape& shape, const Generator& generator, DType dtype,
                const Tensor* into = nullptr) {
  using Int32 = std::numeric_limits<std::int32_t>;
  require(holds_counts(dtype), "randint", "dtype must be ", TypesThat{holds_counts}, ", it is ", dtype);
  require(low < high, "randint", "low ", low, " must be below high ", high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  require(range <= std::uint64_t{1} << 32, "randint", "low ", low, " to high ", high, " spans more than 2^32 values");
  require(dtype == DType::i64 || (low >= Int32::min() && high - 1 <= Int32::max()), "randint", "low ", low, ", high ",
          high, " do not fit in i32");
  Result result("randint", into, shape, dtype, generator.device(), {});
  const std::int64_t count = result.place().numel();
  ops::draw(generator,
            kernel_of(generator, "random/random_integers.cl", dtype == DType::i64 ? "random_i64" : "random_i32"), count,
            out(result), count, low, range);
  return result.done();
}

Tensor events(double p, Result result, const Generator& generator) {
  require(p >= 0 && p <= 1, "bernoulli", "p must be in [0, 1], it is ", p);
  const std::int64_t count = result.place().numel();
  ops::draw(generator, kernel_of(generator, "random/random_bernoulli.cl", "random_bernoulli"), count, out(result),
            count, ops::probability_bound(p));
  return result.done();
}

// A result whose numbers are drawn as f32: a new tensor, or the tensor that a caller gives.
Result drawn_as_f32(const char* op, const Tensor* given, const Shape& shape, DType dtype, const Generator& generator) {
  return Result(op, given, shape, dtype, generator.device(), {}, Result::Layout::row_major, DType::f32);
}

Result result_in(const char* op, const Tensor& given, const Generator& generator) {
  require(given.defined() && is_floating(given.dtype()), op, "the tensor must be ", TypesThat{is_floating},
          given.defined() ? concat(", it is ", given.dtype()) : ", it is undefined");
  return drawn_as_f32(op, &given, given.shape(), given.dtype(), generator);
}

}  // namespace

std::uint32_t ops::probability_bound(double p) { return static_cast<std::uint32_t>(std::ceil(p * 0x1p24)); }

Tensor rand(const Shape& shape, const Generator& generator) {
  const DType dtype = default_dtype();
  return uniform(drawn_as_f32("rand", nullptr, shape, dtype, generator), 0, 1, generator, dtype);
}

Tensor rand(const Shape& shape, Device device) { return rand(shape, default_generator(device)); }

Tensor randn(const Shape& shape, const Generator& generator) {
  return normal(drawn_as_f32("randn", nullptr, shape, default_dtype(), generator), 0, 1, generator);
}

Tensor randn(const Shape& shape, Device device) { return randn(shape, default_generator(device)); }

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Generator& generator, DType dtype) {
  return integers(low, high, shape, generator, dtype);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device) {
  return randint(low, high, shape, default_generator(device), dtype);
}

void ops::randint_into(const Tensor& y, std::int64_t low, std::int64_t high, const Generator& generator) {
  require(y.defined(), "randint", "out is undefined");
  integers(low, high, y.shape(), generator, y.dtype(), &y);
}

Tensor bernoulli(double p, const Shape& shape, const Generator& generator) {
  return events(p, drawn_as_f32("bernoulli", nullptr, shape, default_dtype(), generator), generator);
}

Tensor bernoulli(double p, const Shape& shape, Device device) { return bernoulli(p, shape, default_generator(device)); }

void ops::bernoulli_into(const Tensor& y, double p, const Generator& generator) {
  require(y.defined(), "bernoulli", "out is undefined");
  events(p, drawn_as_f32("bernoulli", &y, y.shape(), DType::f32, generator), generator);
}

Tensor randperm(std::int64_t n, const Generator& generator) {
  require(n >= 0 && n <= std::int64_t{1} << 32, "randperm", "n must be in [0, 2^32], it is ", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  runtime::BuiltKernel& next = ops::advance_kernel(generator);
  const std::lock_guard lock(generator.impl().mutex);
  const GeneratorState state = generator.state();
  for (std::int64_t i = n - 1, used = 0; i > 0; --i, ++used) {
    const std::uint64_t word = philox_word(state.seed, state.counter, static_cast<std::uint64_t>(used));
    const std::uint64_t other = (word * static_cast<std::uint64_t>(i + 1)) >> 32;
    std::swap(order[static_cast<std::size_t>(i)], order[other]);
  }
  Tensor result = from_vector(order, generator.device());
  ops::advance(next, generator, ops::random_blocks(n));
  return result;
}

Tensor randperm(std::int64_t n, Device device) { return randperm(n, default_generator(device)); }

void ops::randperm_into(const Tensor& y, const Generator& generator) {
  ops::deliver("randperm", {&y}, {}, [&] { return std::array{randperm(y.numel(), generator)}; });
}

void ops::uniform_into(const Tensor& y, double low, double high, const Generator& generator) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "uniform_", "low ", low, " and high ", high,
          " must be finite, low not above high");
  uniform(result_in("uniform_", y, generator), low, high, generator, y.dtype());
}

Tensor& uniform_(Tensor& t, double low, double high, const Generator& generator) {
  require_in_place_allowed("uniform_", t);
  ops::uniform_into(t, low, high, generator);
  return t;
}

Tensor& uniform_(Tensor& t, double low, double high) { return uniform_(t, low, high, default_generator(t.device())); }

void ops::normal_into(const Tensor& y, double mean, double deviation, const Generator& generator) {
  require(std::isfinite(mean) && std::isfinite(deviation) && deviation >= 0, "normal_", "mean ", mean,
          " and deviation ", deviation, " must be finite, the deviation not negative");
  normal(result_in("normal_", y, generator), mean, deviation, generator);
}

Tensor& normal_(Tensor& t, double mean, double deviation, const Generator& generator) {
  require_in_place_allowed("normal_", t);
  ops::normal_into(t, mean, deviation, generator);
  return t;
}

Tensor& normal_(Tensor& t, double mean, double deviation) {
  return normal_(t, mean, deviation, default_generator(t.device()));
}

}  // namespace crisol
