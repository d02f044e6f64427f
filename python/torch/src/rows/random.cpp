// Random numbers, by the library's Philox stream.
#include <ATen/ExpandUtils.h>

#include <limits>

#include "call.h"
#include "crisol/dtype_table.h"
#include "generator.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Generator;
using crisol::Tensor;

// Draws to x by a function for f32. Other floating-point types get the converted numbers.
template <class Draw>
void draw(const Tensor& x, Draw f) {
  if (x.dtype() == DType::f32) return f(x);
  const Tensor numbers = crisol::empty(x.shape(), DType::f32, x.device());
  f(numbers);
  ops::copy_into(x, numbers);
}

Generator generator_at(const Call& c, std::size_t i, const Tensor& x) {
  return generator_of(c.generator(i), x.device());
}

void uniform(const Call& c, const Tensor& x) {
  draw(x, [&](const Tensor& to) { ops::uniform_into(to, c.number(1), c.number(2), generator_at(c, 3, x)); });
}
void normal(const Call& c, const Tensor& x) {
  draw(x, [&](const Tensor& to) { ops::normal_into(to, c.number(1), c.number(2), generator_at(c, 3, x)); });
}
void bernoulli(const Call& c, const Tensor& x) {
  draw(x, [&](const Tensor& to) { ops::bernoulli_into(to, c.number(1), generator_at(c, 2, x)); });
}
// 1 with the probability that an element of p tells.
void bernoulli_of(const Tensor& x, const Tensor& p, const Generator& generator) {
  const Tensor numbers = crisol::empty(x.shape(), DType::f32, x.device());
  ops::uniform_into(numbers, 0, 1, generator);
  ops::copy_into(x, ops::lt(numbers, p));
}
void exponential(const Call& c, const Tensor& x) {
  draw(x, [&](const Tensor& to) {
    ops::uniform_into(to, 0, 1, generator_at(c, 2, x));
    ops::mul_into(to, ops::log1p(ops::neg(to)), -1 / c.number(1));
  });
}

void random_between(const Tensor& x, std::int64_t low, std::int64_t high, const Generator& generator) {
  need(low < high, "an empty range");
  const Tensor numbers = crisol::empty(x.shape(), DType::i64, x.device());
  constexpr std::int64_t most = std::int64_t{1} << 32;  // The library draws from at most this many numbers.
  if (const auto count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low); count <= most) {
    ops::randint_into(numbers, low, high, generator);
  } else {
    need(count <= std::numeric_limits<std::int64_t>::max(), "a range of more than 2^63 numbers");
    const Tensor upper = crisol::empty(x.shape(), DType::i64, x.device());
    ops::randint_into(upper, 0, most / 2, generator);
    ops::randint_into(numbers, 0, most, generator);
    ops::addcmul_into(numbers, numbers, upper, most);
    ops::add_into(numbers, ops::remainder(numbers, static_cast<std::int64_t>(count)), low);
  }
  ops::copy_into(x, numbers);
}

// The end of the numbers that random_ draws if the call has none: a type holds each number below it.
std::int64_t end_of(DType dtype) {
  const int digits = crisol::dtype_row(dtype).digits;
  if (digits >= 63) return std::numeric_limits<std::int64_t>::max();
  return (std::int64_t{1} << digits) + (is_floating(dtype) ? 1 : 0);
}

// (means, deviations, generator) and perhaps a result. One of the first two may be a number.
Tensor normal_of(const Call& c) {
  const auto sizes = [&](std::size_t i) {
    return c.value(i).isTensor() ? c.value(i).toTensor().sizes() : at::IntArrayRef();
  };
  const Argument means = c.operand(0), deviations = c.operand(1);
  const Tensor like = c.tensor(c.value(0).isTensor() ? 0 : 1);
  const Tensor noise = crisol::empty(shape_of(at::infer_size(sizes(0), sizes(1))), like.dtype(), like.device());
  draw(noise, [&](const Tensor& to) { ops::normal_into(to, 0, 1, generator_at(c, 2, like)); });
  return ops::addcmul(means, noise, deviations);
}

// (n, generator, out)
Results permutation(const Call& c) {
  const at::Tensor out = c.torch(2);
  const std::int64_t count = c.whole(0);
  need(count >= 0, "a negative size");
  if (out.dim() != 1 || out.numel() != count) out.resize_({count});
  const Tensor target = tensor_of(out);
  const Generator generator = generator_of(c.generator(1), target.device());
  if (target.dtype() == DType::i64) {
    ops::randperm_into(target, generator);
  } else {
    ops::copy_into(target, crisol::randperm(count, generator));
  }
  return {c.value(2)};
}

// (x, noise, low, high, whether it trains, generator): x times a random slope below 0. The noise gets the slopes.
Tensor random_relu(const Call& c, const Tensor& x) {
  const double low = c.number(2), high = c.number(3);
  if (!c.flag(4)) return ops::leaky_relu(x, (low + high) / 2);
  const Tensor noise = c.tensor(1), slopes = crisol::empty(x.shape(), x.dtype(), x.device());
  need(noise.shape() == x.shape() && noise.dtype() == x.dtype(), "noise of another shape");
  draw(slopes, [&](const Tensor& to) { ops::uniform_into(to, low, high, generator_at(c, 5, x)); });
  ops::where_into(noise, ops::le(x, 0), slopes, 1.0);
  return ops::mul(x, noise);
}

}  // namespace

Rows random_rows() {
  return {
      {"uniform_", in_place(uniform)},
      {"normal_", in_place(normal)},
      {"bernoulli_.float", in_place(bernoulli)},
      {"bernoulli_.Tensor",
       in_place([](const Call& c, const Tensor& x) { bernoulli_of(x, c.tensor(1), generator_at(c, 2, x)); })},
      {"bernoulli.out",
       into([](const Call& c, const Tensor& out) { bernoulli_of(out, c.tensor(0), generator_at(c, 1, out)); })},
      {"exponential_", in_place(exponential)},
      {"random_.from", in_place([](const Call& c, const Tensor& x) {
         random_between(x, c.whole(1), c.is_none(2) ? end_of(x.dtype()) : c.whole(2), generator_at(c, 3, x));
       })},
      {"random_.to",
       in_place([](const Call& c, const Tensor& x) { random_between(x, 0, c.whole(1), generator_at(c, 2, x)); })},
      {"random_", in_place([](const Call& c, const Tensor& x) {
         random_between(x, 0, end_of(x.dtype()), generator_at(c, 1, x));
       })},
      {"normal.Tensor_Tensor", gives(normal_of)},
      {"normal.Tensor_float", gives(normal_of)},
      {"normal.float_Tensor", gives(normal_of)},
      {"rrelu_with_noise", gives([](const Call& c) { return random_relu(c, c.tensor(0)); })},
      {"rrelu_with_noise_", in_place([](const Call& c, const Tensor& x) { ops::copy_into(x, random_relu(c, x)); })},
      {"rrelu_with_noise.out",
       into([](const Call& c, const Tensor& out) { ops::copy_into(out, random_relu(c, c.tensor(0))); })},
      {"randperm.generator_out", permutation},
      {"multinomial", gives([](const Call& c) {
         const Tensor weights = c.tensor(0);
         return ops::multinomial(weights, c.whole(1), c.flag(2), generator_at(c, 3, weights));
       })},
  };
}

}  // namespace crisol_torch
