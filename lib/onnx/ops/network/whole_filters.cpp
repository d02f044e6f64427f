// Convolutions of quantised numbers.
#include <cmath>
#include <iterator>

#include "base/byte_dtype.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/network/convolution.h"
#include "onnx/ops/network/quantized.h"

namespace crisol::onnx {

using graph::Data;

namespace {

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

KeptNumbers::Make digits(Sums sums, std::int64_t groups) {
  return [=](const Tensor& weight, const Tensor& zero) {
    require(weight.dim() >= 3, "onnx", "filters of shape ", weight.shape());
    if (groups == 1 && weight.dim() <= 4 && is_of_bytes(weight.dtype()) && ops::prefers_pairs(weight.device()))
      return std::vector<Tensor>{ops::pack_filters(weight.flatten(2, -1), for_filters(zero, 3))};
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

WholeFilters::WholeFilters(Call& call, std::size_t weight, std::size_t zero, Sums sums)
    : sums_(sums),
      weight_(weight),
      windows_(call, 3),
      groups_(call.integer("group", 1)),
      digits_(call, weight, zero, digits(sums, groups_)),
      convolve_(convolution_of_f32(call)) {}

ops::PairWindows WholeFilters::windows_of(const Tensor& x, const Data& in) const {
  const Shape filters = in[weight_].shape();
  require(x.dim() == filters.rank() && x.size(1) == filters[1], "onnx", "an input of shape ", x.shape(),
          " and filters of shape ", filters);
  const Shape taps(filters.begin() + 2, static_cast<std::size_t>(filters.rank() - 2));
  const Windows w = windows_.for_input(spatial_of(x), taps).as_image();
  const auto two = [](const std::vector<std::int64_t>& list, std::size_t at) {
    return std::array{list[at], list[at + 1]};
  };
  return {two(w.kernel, 0), two(w.strides, 0), two(w.dilations, 0), two(w.pads, 0), two(w.pads, 2)};
}

Tensor WholeFilters::sums_in_f32(const Tensor& x, const Tensor& bias, const std::vector<Tensor>& filters,
                                 Device device) const {
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

Tensor WholeFilters::of_pairs(const Tensor& x, const Tensor& x_zero, const Tensor& filters, const ops::Scaling& by,
                              const Data& in, const ops::ProductEpilogue* epilogue) const {
  const ops::PairWindows windows = windows_of(x, in);
  const Tensor images = x.dim() == 3 ? x.unsqueeze(2) : x;
  const Tensor y = ops::convolve_pairs(images, x_zero, filters, windows, by, epilogue);
  return x.dim() == 3 ? y.squeeze(2) : y;
}

Tensor WholeFilters::convolution(const Tensor& x, const Tensor& x_zero, const ops::Scaling& by, const Data& in,
                                 Device device) const {
  const std::vector<Tensor> filters = digits_.of(in, device);
  if (is_packed(filters)) return of_pairs(x, x_zero, filters[0], by, in);
  ops::Scaling rest = by;
  rest.left = for_filters(by.left, x.dim() - 1);
  rest.bias = Tensor();
  return scaled(sums_in_f32(centred(x, x_zero), by.bias.defined() ? by.bias.to(DType::f32) : by.bias, filters, device),
                rest);
}

Tensor WholeFilters::convolution(const Tensor& x, const Tensor& x_zero, const std::vector<Tensor>& factors,
                                 const Epilogue* epilogue, const Data& in, Device device) const {
  if (factors.empty() || factors[1].numel() == 1) return convolution(x, x_zero, as_f32(factors), epilogue, in, device);
  const Tensor y = convolution(x, x_zero, as_f32({}), in, device) * (factors[0] * factors[1]);
  return epilogue == nullptr ? y : (*epilogue)(y);
}

Tensor WholeFilters::convolution(const Tensor& x, const Tensor& x_zero, const ops::Scaling& by,
                                 const Epilogue* epilogue, const Data& in, Device device) const {
  if (epilogue == nullptr) return convolution(x, x_zero, by, in, device);
  const std::vector<Tensor> filters = digits_.of(in, device);
  if (!is_packed(filters)) return (*epilogue)(convolution(x, x_zero, by, in, device));
  Shape shape = ops::shape_of_pairs(x.dim() == 3 ? x.unsqueeze(2) : x, filters[0].size(1), windows_of(x, in));
  if (x.dim() == 3) shape.erase(2);
  return with_epilogue_of_pairs(
      {.shape = shape, .by_channel = true}, by.result, device, *epilogue,
      [&](const ops::ProductEpilogue* f) { return of_pairs(x, x_zero, filters[0], by, in, f); });
}

}  // namespace crisol::onnx
