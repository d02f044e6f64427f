#include "onnx/ops/network/quantized.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "crisol/functions/matmul.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/network/convolution.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;

void require_quantized(const Tensor& x) {
  if (x.defined())
    require(is_whole(x.dtype()) && size_of(x.dtype()) <= 2, "onnx", "quantised elements of ", x.dtype(),
            " are not supported, u8, i8, u16 and i16 are");
}

Range::Range(DType dtype) noexcept {
  const auto numbers = static_cast<double>(std::int64_t{1} << dtype_row(dtype).digits);
  least = kind_of(dtype) == DTypeKind::unsigned_integer ? 0 : -numbers;
  greatest = numbers - 1;
}

Tensor centred(const Tensor& x, const Tensor& zero) {
  require_quantized(x);
  require_quantized(zero);
  if (!zero.defined()) return x.to(DType::f32);
  static const auto difference =
      fuse([](const Expr& q, const Expr& z) { return q.to(DType::f32) - z.to(DType::f32); }, "centred");
  return difference(x, zero);
}

namespace {

template <DType dtype>
Tensor requantized_as(const Tensor& numbers, const Tensor& factor, const Tensor& zero) {
  static const auto function = fuse(
      [](const Expr& n, const Expr& f, const Expr& z) {
        const Range range(dtype);
        return clamp(round(n.to(DType::f32) * f.to(DType::f32)) + z.to(DType::f32), range.least, range.greatest)
            .to(dtype);
      },
      "requantized");
  return function(numbers, factor, zero);
}

}  // namespace

Tensor requantized(const Tensor& numbers, const Tensor& factor, const Tensor& zero) {
  require(is_whole(zero.dtype()) && size_of(zero.dtype()) == 1, "onnx", "quantised results of ", zero.dtype(),
          " are not supported, u8 and i8 are");
  const bool has_sign = kind_of(zero.dtype()) != DTypeKind::unsigned_integer;
  const auto as_quantized = has_sign ? requantized_as<DType::i8> : requantized_as<DType::u8>;
  return as_quantized(numbers, factor, zero);
}

Tensor for_rows(const Tensor& parameters) {
  return parameters.defined() && parameters.dim() == 1 && parameters.numel() > 1 ? parameters.unsqueeze(1) : parameters;
}

Tensor for_filters(const Tensor& parameters, int rank) {
  if (!parameters.defined()) return parameters;
  Shape shape = Shape::filled(rank, 1);
  shape[0] = parameters.numel();
  return parameters.reshape(shape);
}

KeptNumbers::KeptNumbers(const Call& call, std::size_t weight, std::size_t zero, Make make)
    : weight_(weight), zero_(zero), make_(std::move(make)) {
  const Datum numbers = call.stored(weight), point = call.stored(zero);
  if (!numbers.defined() || point.defined() != call.has_input(zero)) return;
  kept_.emplace([=, f = make_](Device device) { return f(numbers.tensor(device), point.tensor(device)); });
}

std::vector<Tensor> KeptNumbers::of(const Data& in, Device device) const {
  return kept_ ? kept_->on(device) : make_(in[weight_].tensor(device), input_of(in, zero_, device));
}

namespace {

/// The matrices b - zero, cut into pieces of rows. Products of numbers from -255 to 255 are at most 65025, and f32 adds
/// 256 of them exactly.
KeptNumbers::Make pieces(Sums sums, bool turns) {
  return [=](const Tensor& b, const Tensor& zero) {
    constexpr std::int64_t most = 256;
    require(b.dim() >= 2, "onnx", "a factor of shape ", b.shape(), ", matrices expected");
    const Tensor numbers = centred(turns ? b.t() : b, zero);
    const std::int64_t length = numbers.size(-2);
    if (sums == Sums::rounded || length <= most) return std::vector<Tensor>{numbers};
    std::vector<Tensor> list;
    for (std::int64_t at = 0; at < length; at += most)
      list.push_back(numbers.narrow(-2, at, std::min(most, length - at)).clone());
    return list;
  };
}

/// Digits of whole numbers from -255 to 255, from the highest. The numbers are the sums of digits times powers of the
/// base. f32 adds `taps` products of a digit and a number up to 255 exactly.
struct Digits {
  std::int64_t taps;
  int base, count;
};
constexpr Digits digits_of_filters[] = {{257, 256, 1}, {4112, 16, 2}, {16448, 8, 3}, {32896, 2, 8}};

const Digits& digits_for(std::int64_t taps) {
  for (const Digits& digits : digits_of_filters)
    if (taps <= digits.taps) return digits;
  fail(ErrorCode::invalid_argument, "onnx", "sums of ", taps, " products, at most ",
       std::rbegin(digits_of_filters)->taps, " are supported");
}

KeptNumbers::Make digits(Sums sums) {
  return [=](const Tensor& weight, const Tensor& zero) {
    require(weight.dim() >= 3, "onnx", "filters of shape ", weight.shape());
    Tensor rest = centred(weight, for_filters(zero, weight.dim()));
    if (sums == Sums::rounded || weight.numel() == 0) return std::vector<Tensor>{rest};
    const Digits& chosen = digits_for(weight.numel() / weight.size(0));
    std::vector<Tensor> list;
    for (int i = chosen.count; i-- > 0;) {
      const double power = std::pow(chosen.base, i);
      list.push_back(i == 0 ? rest : round(rest / power));
      rest = rest - list.back() * power;
    }
    return list;
  };
}

}  // namespace

WholeFactor::WholeFactor(const Call& call, std::size_t b, std::size_t zero, Sums sums, bool turns)
    : sums_(sums), pieces_(call, b, zero, pieces(sums, turns)) {}

Tensor WholeFactor::product(const Tensor& a, const Data& in, Device device) const {
  const std::vector<Tensor> right = pieces_.of(in, device);
  std::int64_t length = 0;
  for (const Tensor& piece : right) length += piece.size(-2);
  require(a.dim() >= 2 && a.size(-1) == length, "onnx", "a factor of shape ", a.shape(), " times matrices with ",
          length, " rows");
  static const auto add = fuse([](const Expr& sum, const Expr& part) { return sum + part.to(DType::i32); }, "add_part");
  Tensor result;
  std::int64_t at = 0;
  for (const Tensor& piece : right) {
    const Tensor left = right.size() == 1 ? a : a.narrow(-1, at, piece.size(-2));
    const Tensor part = piece.dim() == 2 ? linear(left, piece.t()) : matmul(left, piece);
    if (sums_ == Sums::rounded) return part;
    result = result.defined() ? add(result, part) : part.to(DType::i32);
    at += piece.size(-2);
  }
  return result;
}

WholeFilters::WholeFilters(Call& call, std::size_t weight, std::size_t zero, Sums sums)
    : sums_(sums), digits_(call, weight, zero, digits(sums)), convolve_(convolution_of_f32(call)) {}

Tensor WholeFilters::convolution(const Tensor& x, const Tensor& bias, const Data& in, Device device) const {
  const std::vector<Tensor> filters = digits_.of(in, device);
  require(x.dim() == filters[0].dim(), "onnx", "an input of shape ", x.shape(), " and filters of shape ",
          filters[0].shape());
  static const auto add = fuse([](const Expr& sum, const Expr& base,
                                  const Expr& part) { return sum * base.to(DType::i32) + part.to(DType::i32); },
                               "add_digit");
  Tensor result;
  for (const Tensor& digit : filters) {
    const Tensor part = convolve_({x, digit, bias}, device)[0].tensor(device);
    if (sums_ == Sums::rounded) return part;
    result =
        !result.defined() ? part.to(DType::i32) : add(result, digits_for(digit.numel() / digit.size(0)).base, part);
  }
  return result;
}

}  // namespace crisol::onnx
