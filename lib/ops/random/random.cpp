// Random tensors: crisol/random.h and crisol/ops/random.h.
#include "crisol/random.h"

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

Tensor uniform(Result result, double low, double high, const Generator& generator) {
  const auto least = static_cast<float>(low), most = static_cast<float>(high);
  const float top = least < most ? std::nextafterf(most, least) : most;
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

Tensor events(double p, const Shape& shape, const Generator& generator, const Tensor* into = nullptr) {
  require(p >= 0 && p <= 1, "bernoulli", "p must be in [0, 1], it is ", p);
  Result result("bernoulli", into, shape, DType::f32, generator.device(), {});
  const std::int64_t count = result.place().numel();
  ops::draw(generator, kernel_of(generator, "random/random_bernoulli.cl", "random_bernoulli"), count, out(result),
            count, ops::probability_bound(p));
  return result.done();
}

// A result of f32 in a tensor that a caller gives. A tensor of f64 gets numbers of f32.
Result result_in(const char* op, const Tensor& given, const Generator& generator) {
  require(given.defined(), op, "the tensor is undefined");
  const DType dtype = promote_types(given.dtype(), DType::f32) == given.dtype() ? given.dtype() : DType::f32;
  return Result(op, &given, given.shape(), dtype, generator.device(), {}, Result::Layout::row_major, DType::f32);
}

}  // namespace

std::uint32_t ops::probability_bound(double p) { return static_cast<std::uint32_t>(std::ceil(p * 0x1p24)); }

Tensor rand(const Shape& shape, const Generator& generator) {
  return uniform(Result("rand", nullptr, shape, DType::f32, generator.device(), {}), 0, 1, generator);
}

Tensor rand(const Shape& shape, Device device) { return rand(shape, default_generator(device)); }

Tensor randn(const Shape& shape, const Generator& generator) {
  return normal(Result("randn", nullptr, shape, DType::f32, generator.device(), {}), 0, 1, generator);
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

Tensor bernoulli(double p, const Shape& shape, const Generator& generator) { return events(p, shape, generator); }

Tensor bernoulli(double p, const Shape& shape, Device device) { return bernoulli(p, shape, default_generator(device)); }

void ops::bernoulli_into(const Tensor& y, double p, const Generator& generator) {
  require(y.defined(), "bernoulli", "out is undefined");
  events(p, y.shape(), generator, &y);
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
  uniform(result_in("uniform_", y, generator), low, high, generator);
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
