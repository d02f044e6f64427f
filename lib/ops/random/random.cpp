// Random tensors: crisol/random.h.
#include "crisol/random.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "ops/random/draw.h"
#include "tensor/grad_mode.h"

namespace crisol {

namespace {

runtime::BuiltKernel& kernel_of(const Generator& generator, std::string_view file, std::string_view entry) {
  return runtime::resolve(state_of(generator.impl().state), {file, entry});
}

void fill_uniform(Tensor& contiguous, float low, float high, const Generator& generator) {
  const float top = low < high ? std::nextafterf(high, low) : high;
  ops::draw(generator, kernel_of(generator, "random/random_uniform.cl", "random_uniform"), contiguous.numel(),
            out(contiguous), contiguous.numel(), low, high - low, top);
}

void fill_normal(Tensor& contiguous, float mean, float deviation, const Generator& generator) {
  ops::draw(generator, kernel_of(generator, "random/random_normal.cl", "random_normal"), contiguous.numel(),
            out(contiguous), contiguous.numel(), mean, deviation);
}

// Checks the tensor that an in-place function writes to.
void require_target(const char* op, const Tensor& t, const Generator& generator) {
  require(t.dtype() == DType::f32, op, "the tensor must be f32, it is ", t.dtype());
  require(t.device() == generator.device(), op, "the tensor is on ", t.device(), ", the generator on ",
          generator.device());
  require_in_place_allowed(op, t);
}

// Calls fill(t). If t is not contiguous, fills a contiguous tensor and copies it to t.
template <class Fill>
Tensor& fill_in_place(Tensor& t, Fill fill) {
  if (t.is_contiguous()) {
    fill(t);
  } else {
    Tensor values = empty(t.shape(), DType::f32, t.device());
    fill(values);
    t.copy_from(values);
  }
  return t;
}

}  // namespace

std::uint32_t ops::probability_bound(double p) { return static_cast<std::uint32_t>(std::ceil(p * 0x1p24)); }

Tensor rand(const Shape& shape, const Generator& generator) {
  Tensor result = empty(shape, DType::f32, generator.device());
  fill_uniform(result, 0, 1, generator);
  return result;
}

Tensor rand(const Shape& shape, Device device) { return rand(shape, default_generator(device)); }

Tensor randn(const Shape& shape, const Generator& generator) {
  Tensor result = empty(shape, DType::f32, generator.device());
  fill_normal(result, 0, 1, generator);
  return result;
}

Tensor randn(const Shape& shape, Device device) { return randn(shape, default_generator(device)); }

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Generator& generator, DType dtype) {
  using Int32 = std::numeric_limits<std::int32_t>;
  require(holds_counts(dtype), "randint", "dtype must be ", TypesThat{holds_counts}, ", it is ", dtype);
  require(low < high, "randint", "low ", low, " must be below high ", high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  require(range <= std::uint64_t{1} << 32, "randint", "low ", low, " to high ", high, " spans more than 2^32 values");
  require(dtype == DType::i64 || (low >= Int32::min() && high - 1 <= Int32::max()), "randint", "low ", low, ", high ",
          high, " do not fit in i32");
  Tensor result = empty(shape, dtype, generator.device());
  ops::draw(generator,
            kernel_of(generator, "random/random_integers.cl", dtype == DType::i64 ? "random_i64" : "random_i32"),
            result.numel(), out(result), result.numel(), low, range);
  return result;
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, Device device) {
  return randint(low, high, shape, default_generator(device), dtype);
}

Tensor bernoulli(double p, const Shape& shape, const Generator& generator) {
  require(p >= 0 && p <= 1, "bernoulli", "p must be in [0, 1], it is ", p);
  Tensor result = empty(shape, DType::f32, generator.device());
  ops::draw(generator, kernel_of(generator, "random/random_bernoulli.cl", "random_bernoulli"), result.numel(),
            out(result), result.numel(), ops::probability_bound(p));
  return result;
}

Tensor bernoulli(double p, const Shape& shape, Device device) { return bernoulli(p, shape, default_generator(device)); }

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

Tensor& uniform_(Tensor& t, double low, double high, const Generator& generator) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "uniform_", "low ", low, " and high ", high,
          " must be finite, low not above high");
  require_target("uniform_", t, generator);
  return fill_in_place(
      t, [&](Tensor& values) { fill_uniform(values, static_cast<float>(low), static_cast<float>(high), generator); });
}

Tensor& uniform_(Tensor& t, double low, double high) { return uniform_(t, low, high, default_generator(t.device())); }

Tensor& normal_(Tensor& t, double mean, double deviation, const Generator& generator) {
  require(std::isfinite(mean) && std::isfinite(deviation) && deviation >= 0, "normal_", "mean ", mean,
          " and deviation ", deviation, " must be finite, the deviation not negative");
  require_target("normal_", t, generator);
  return fill_in_place(t, [&](Tensor& values) {
    fill_normal(values, static_cast<float>(mean), static_cast<float>(deviation), generator);
  });
}

Tensor& normal_(Tensor& t, double mean, double deviation) {
  return normal_(t, mean, deviation, default_generator(t.device()));
}

}  // namespace crisol
