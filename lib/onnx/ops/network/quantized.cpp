#include "onnx/ops/network/quantized.h"

#include <algorithm>

#include "base/byte_dtype.h"
#include "base/text.h"
#include "crisol/functions/matmul.h"
#include "functions/fuse/epilogue.h"
#include "onnx/ops/axes.h"
#include "ops/collapse.h"
#include "ops/product/leading_axes.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;

void require_quantized(const Tensor& x) {
  if (x.defined())
    require(is_whole(x.dtype()) && size_of(x.dtype()) <= 2, "onnx", "quantised elements of ", x.dtype(),
            " are not supported, u8, i8, u16 and i16 are");
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
  require(is_of_bytes(zero.dtype()), "onnx", "quantised results of ", zero.dtype(),
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

/// The matrices b - zero, packed as pairs, or cut into pieces of rows. Products of numbers from -255 to 255 are at most
/// 65025, and f32 adds 256 of them exactly.
KeptNumbers::Make pieces(Sums sums, bool turns) {
  return [=](const Tensor& b, const Tensor& zero) {
    constexpr std::int64_t most = 256;
    require(b.dim() >= 1, "onnx", "a factor of shape ", b.shape(), ", a vector or matrices expected");
    const Tensor matrices = b.dim() == 1 ? b.unsqueeze(1) : turns ? b.t() : b;
    if (is_of_bytes(b.dtype()) && ops::prefers_pairs(b.device()))
      return std::vector<Tensor>{ops::pack_panels(matrices, zero)};
    const Tensor numbers = centred(matrices, zero);
    const std::int64_t length = numbers.size(-2);
    if (sums == Sums::rounded || length <= most) return std::vector<Tensor>{numbers};
    std::vector<Tensor> list;
    for (std::int64_t at = 0; at < length; at += most)
      list.push_back(numbers.narrow(-2, at, std::min(most, length - at)).clone());
    return list;
  };
}

}  // namespace

Tensor scaled(const Tensor& sums, const ops::Scaling& by) {
  if (!by.left.defined()) return sums.to(by.result);
  static const auto with_factors =
      fuse([](const Expr& s, const Expr& a, const Expr& b) { return s.to(DType::f32) * (a * b); }, "scaled_sums");
  static const auto with_bias =
      fuse([](const Expr& s, const Expr& a, const Expr& b, const Expr& c) { return s.to(DType::f32) * (a * b) + c; },
           "scaled_sums");
  const bool adds_first = by.bias.defined() && is_whole(by.bias.dtype());
  const Tensor all = adds_first ? sums + by.bias.to(sums.dtype()) : sums;
  if (by.result == DType::f32)
    return by.bias.defined() && !adds_first ? with_bias(all, by.left, by.right, by.bias)
                                            : with_factors(all, by.left, by.right);
  const Tensor factor = by.left * by.right;
  return requantized(all, by.over.defined() ? factor / by.over : factor, by.zero);
}

Tensor with_epilogue_of_pairs(detail::ResultLayout layout, DType dtype, Device device, const Epilogue& epilogue,
                              const std::function<Tensor(const ops::ProductEpilogue*)>& f) {
  layout.reads_bytes = true;
  return detail::run_with_epilogue(
      {.name = "multiply_pairs",
       .layout = layout,
       .inputs = {empty(Shape::filled(layout.shape.rank(), 1), dtype, device)},  // It has the type of the sums.
       .plain = [&] { return f(nullptr); },
       .raw = [&](const ops::ProductEpilogue& with) -> ops::ProductResult {
         return {f(&with), true};
       },
       .backward = {}},
      epilogue);
}

ops::Scaling as_f32(const std::vector<Tensor>& factors) {
  ops::Scaling by{.result = DType::f32};
  if (!factors.empty()) by.left = factors[0], by.right = factors[1];
  return by;
}

bool is_packed(const std::vector<Tensor>& pieces) { return pieces[0].dtype() == DType::i32; }

namespace {

/// The same with the parameters of rows as columns.
ops::Scaling with_columns(ops::Scaling by) {
  for (Tensor* const of_rows : {&by.left, &by.over, &by.zero}) *of_rows = for_rows(*of_rows);
  return by;
}

/// Whether a kernel of pairs can scale `rows` x `columns` sums like this. Other scales, zero points and biases
/// broadcast to the sums.
bool pairs_scale(const ops::Scaling& by, std::int64_t rows, std::int64_t columns) {
  const auto is_one = [](const Tensor& x) { return !x.defined() || x.numel() == 1; };
  return is_one(by.over) && is_one(by.zero) && (is_one(by.left) || by.left.shape() == Shape{rows}) &&
         (is_one(by.right) || by.right.shape() == Shape{columns}) &&
         (!by.bias.defined() || by.bias.shape() == Shape{columns});
}

}  // namespace

WholeFactor::WholeFactor(const Call& call, std::size_t b, std::size_t zero, Sums sums, bool turns)
    : sums_(sums), b_(b), turns_(turns), pieces_(call, b, zero, pieces(sums, turns)) {}

Shape WholeFactor::shape_of_b(const Tensor& a, const Data& in) const {
  require_quantized(a);
  Shape b = in[b_].shape();
  if (b.rank() == 1) b.push_back(1);
  if (turns_) std::swap(b[b.rank() - 2], b[b.rank() - 1]);
  require(a.dim() >= 2 && a.size(-1) == b[b.rank() - 2], "onnx", "a factor of shape ", a.shape(),
          " times matrices with ", b[b.rank() - 2], " rows");
  return b;
}

Tensor WholeFactor::sums_in_f32(const Tensor& a, const std::vector<Tensor>& right) const {
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

namespace {

/// The leading axes of a product of matrices of these shapes.
Shape axes_of_products(const Shape& a, const Shape& b) {
  return ops::broadcast_shape("onnx", ops::leading_axes(a), ops::leading_axes(b));
}

Shape with_matrix(Shape leading, std::int64_t rows, std::int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

}  // namespace

Tensor WholeFactor::of_pairs(const Tensor& a, const Tensor& a_zero, const Tensor& panels, const ops::Scaling& by,
                             const Shape& b, const ops::ProductEpilogue* epilogue) const {
  const Shape leading = axes_of_products(a.shape(), b), shape = with_matrix(leading, a.size(-2), b.back());
  const bool repeats_a = ops::leading_axes(a.shape()).numel() != 1 && ops::leading_axes(a.shape()) != leading;
  Tensor rows = ops::pack_rows(repeats_a ? a.expand(with_matrix(leading, a.size(-2), a.size(-1))) : a, a_zero);
  // Rows of all products with one right factor are the rows of one product, unless each row has its own factor.
  if (panels.size(0) == 1 && (!by.left.defined() || by.left.numel() == 1))
    rows = rows.reshape({1, rows.size(0) * rows.size(1), rows.size(2)});
  return ops::multiply_pairs(rows, panels, b.back(), by, epilogue).reshape(shape);
}

Tensor WholeFactor::product(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const Data& in,
                            Device device) const {
  const bool is_column = in[b_].shape().rank() == 1;
  if (a.dim() == 1) return product(a.unsqueeze(0), a_zero, by, in, device).squeeze(is_column ? -1 : -2);
  const Tensor y = of_matrices(a, a_zero, by, in, device);
  return is_column ? y.squeeze(-1) : y;
}

Tensor WholeFactor::of_matrices(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const Data& in,
                                Device device) const {
  const std::vector<Tensor> right = pieces_.of(in, device);
  const Shape b = shape_of_b(a, in);
  if (!is_packed(right)) return scaled(sums_in_f32(centred(a, a_zero), right), with_columns(by));
  if (!pairs_scale(by, a.size(-2), b.back())) return scaled(of_pairs(a, a_zero, right[0], {}, b), with_columns(by));
  return of_pairs(a, a_zero, right[0], by, b);
}

Tensor WholeFactor::product(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const Epilogue* epilogue,
                            const Data& in, Device device) const {
  if (epilogue == nullptr) return product(a, a_zero, by, in, device);
  const bool has_vector = a.dim() == 1 || in[b_].shape().rank() == 1;
  if (has_vector) return (*epilogue)(product(a, a_zero, by, in, device));
  const std::vector<Tensor> right = pieces_.of(in, device);
  const Shape b = shape_of_b(a, in);
  if (!is_packed(right) || !pairs_scale(by, a.size(-2), b.back()))
    return (*epilogue)(product(a, a_zero, by, in, device));
  const Shape shape = with_matrix(axes_of_products(a.shape(), b), a.size(-2), b.back());
  const detail::ResultLayout layout{.shape = shape, .in_products = right[0].size(0) != 1};
  return with_epilogue_of_pairs(layout, by.result, device, *epilogue,
                                [&](const ops::ProductEpilogue* f) { return of_pairs(a, a_zero, right[0], by, b, f); });
}

}  // namespace crisol::onnx
