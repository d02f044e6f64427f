// Numbers rounded to the values of a quantised type, for training that knows of quantisation.
#include "call.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Operand;
using crisol::Tensor;

// (rounded numbers, whether they are within the limits). PyTorch keeps the second result for the gradient.
struct Rounded {
  Tensor values, within;
};

// scale (clamp(rint(x / scale) + zero point) - zero point)
Rounded round_to_steps(const Tensor& x, const Operand& scale, const Operand& inverse, const Operand& zero,
                       std::int64_t low, std::int64_t high) {
  const Tensor step = ops::add(ops::round(ops::mul(x, inverse)), zero);
  const auto least = static_cast<double>(low), most = static_cast<double>(high);
  return {ops::mul(ops::sub(ops::clamp(step, least, most), zero), scale),
          ops::logical_and(ops::ge(step, least), ops::le(step, most))};
}
Results both(const Rounded& rounded) { return {wrap(rounded.values), wrap(rounded.within)}; }

void check(const Tensor& x) { need(x.dtype() == DType::f32, "fake quantisation of other types than float32"); }

// (x, scale, zero point, lowest, highest)
Results by_numbers(const Call& c) {
  const Tensor x = c.tensor(0);
  check(x);
  const float scale = static_cast<float>(c.number(1));
  return both(round_to_steps(x, scale, 1 / scale, c.number(2), c.whole(3), c.whole(4)));
}

// (x, scale, zero point, whether it rounds, lowest, highest), with tensors of one element.
Results by_tensors(const Call& c) {
  const Tensor x = c.tensor(0), scale = c.tensor(1), rounds = ops::ne(c.tensor(3), 0);
  check(x);
  const Tensor zero = ops::cast(c.tensor(2), DType::f32);
  need(scale.numel() == 1 && zero.numel() == 1 && rounds.numel() == 1, "several scales");
  const auto number = [](const Tensor& t) { return ops::reshape(t, {}); };
  const Rounded found =
      round_to_steps(x, number(scale), ops::reciprocal(number(scale)), number(zero), c.whole(4), c.whole(5));
  return both(
      {ops::where(number(rounds), found.values, x), ops::logical_or(found.within, ops::logical_not(number(rounds)))});
}

// (x, scales, zero points, axis, lowest, highest)
Results by_channels(const Call& c) {
  const Tensor x = c.tensor(0), scales = c.tensor(1), zeros = ops::cast(c.tensor(2), DType::f32);
  check(x);
  const int axis = c.axis(3);
  need(axis >= 0 && axis < x.dim() && scales.dim() == 1 && zeros.dim() == 1, "an axis that does not exist");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[static_cast<std::size_t>(axis)] = x.size(axis);
  const Tensor scale = ops::reshape(scales, sizes);
  return both(round_to_steps(x, scale, ops::reciprocal(scale), ops::reshape(zeros, sizes), c.whole(4), c.whole(5)));
}

}  // namespace

Rows quantization_rows() {
  return {
      {"fake_quantize_per_tensor_affine_cachemask", by_numbers},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", by_tensors},
      {"fake_quantize_per_channel_affine_cachemask", by_channels},
  };
}

}  // namespace crisol_torch
