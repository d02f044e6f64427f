// Numbers that are quantised to whole numbers of few bits. A number q means scale (q - zero point).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "crisol/functions/elementwise.h"
#include "crisol/fuse.h"
#include "functions/fuse/epilogue.h"
#include "onnx/ops/domains/device_parts.h"
#include "onnx/ops/small_types.h"
#include "onnx/ops/table.h"
#include "onnx/ops/vision/windows.h"
#include "ops/conv/conv_pairs.h"
#include "ops/quantized/quantize_range.h"

namespace crisol::onnx {

/// Throws for elements of other types than whole numbers of one or two bytes. The tensor may be undefined.
void require_quantized(const Tensor& x);

/// The nearest number of a quantised type to x / scale, plus the zero point. The quotient is rounded to `precision`
/// before. `zero` may be null. Value is Tensor or Expr.
template <class Value>
Value quantized(const Value& x, const Value& scale, const Value* zero, DType precision, DType result, Range range) {
  const Value y = round((x.to(precision) / scale.to(precision)).to(DType::f32));
  return clamp(zero != nullptr ? y + zero->to(DType::f32) : y, range.least, range.greatest).to(result);
}

/// scale (x - zero). `zero` may be null. Value is Tensor or Expr.
template <class Value>
Value dequantized(const Value& x, const Value& scale, const Value* zero, DType result) {
  const Value numbers = zero != nullptr ? x.to(DType::i32) - zero->to(DType::i32) : x.to(DType::i32);
  return (numbers.to(DType::f32) * scale.to(DType::f32)).to(result);
}

/// x - zero in f32. `zero` may be undefined.
Tensor centred(const Tensor& x, const Tensor& zero);

/// Quantises whole numbers times `factor`. The result has the type of `zero`.
Tensor requantized(const Tensor& numbers, const Tensor& factor, const Tensor& zero);

/// Quantises x of f32. The range of x, extended to include 0, becomes 0 to 255.
ops::RangeQuantized dynamically_quantized(const Tensor& x);

/// Parameters of rows: a vector becomes a column, and a single number is for all rows. They may be undefined.
Tensor for_rows(const Tensor& parameters);

/// How the sums of a product of whole numbers are computed.
enum class Sums {
  exact,    ///< As i32.
  rounded,  ///< As f32, which rounds sums above 2^24.
};

/// Tensors that a node makes of a weight and its zero point. If the file stores both, they are made once.
class KeptNumbers {
 public:
  using Make = std::function<std::vector<Tensor>(const Tensor& weight, const Tensor& zero)>;

  /// `weight` and `zero` are the positions of inputs.
  KeptNumbers(const Call& call, std::size_t weight, std::size_t zero, Make make);

  std::vector<Tensor> of(const graph::Data& in, Device device) const;

 private:
  std::size_t weight_, zero_;
  Make make_;
  std::optional<DeviceParts<std::vector<Tensor>>> kept_;
};

/// Scales the sums of a product by factors that broadcast to them. Without factors, the sums only get the result's
/// type.
Tensor scaled(const Tensor& sums, const ops::Scaling& by);

/// Scales sums to f32, by two factors or none. The first one is one number.
ops::Scaling as_f32(const std::vector<Tensor>& factors);

/// Whether a weight is packed as pairs. Otherwise it has parts of f32.
bool is_packed(const std::vector<Tensor>& parts);

/// Scaled sums of pairs of a dtype, followed by an epilogue. `f` computes them, and then an epilogue if it is not null.
Tensor with_epilogue_of_pairs(detail::ResultLayout layout, DType dtype, Device device, const Epilogue& epilogue,
                              const std::function<Tensor(const ops::ProductEpilogue*)>& f);

/// A right factor b (…, K, N) of quantised numbers, or a vector of K numbers. On devices that prefer products of pairs,
/// its packed form is kept. Elsewhere products are computed in f32.
class WholeFactor {
 public:
  /// The positions of b and its zero point among the inputs. If `turns`, the input is (N, K).
  WholeFactor(const Call& call, std::size_t b, std::size_t zero, Sums sums, bool turns = false);

  /// (a - a_zero) times (b - zero), scaled, for a (…, M, K) or a vector of K numbers. Factors of rows are vectors of M
  /// numbers.
  Tensor product(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const graph::Data& in,
                 Device device) const;
  /// The same, followed by an epilogue, which may be null.
  Tensor product(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const Epilogue* epilogue,
                 const graph::Data& in, Device device) const;

 private:
  /// The shape of b, which must have as many rows as `a` has columns.
  Shape shape_of_b(const Tensor& a, const graph::Data& in) const;
  Tensor of_matrices(const Tensor& a, const Tensor& a_zero, const ops::Scaling& by, const graph::Data& in,
                     Device device) const;
  Tensor sums_in_f32(const Tensor& a, const std::vector<Tensor>& pieces) const;
  Tensor of_pairs(const Tensor& a, const Tensor& a_zero, const Tensor& panels, const ops::Scaling& by, const Shape& b,
                  const ops::ProductEpilogue* epilogue = nullptr) const;

  Sums sums_;
  std::size_t b_;
  bool turns_;
  KeptNumbers pieces_;
};

/// Filters of quantised numbers. The node has the attributes of a convolution. On devices that prefer products of
/// pairs, the packed form of the filters is kept. Elsewhere convolutions are computed in f32.
class WholeFilters {
 public:
  /// The positions of the filters and their zero points among the inputs.
  WholeFilters(Call& call, std::size_t weight, std::size_t zero, Sums sums);

  /// The convolution of (x - x_zero) with (filters - zero points), scaled. `left` and the bias are for filters.
  Tensor convolution(const Tensor& x, const Tensor& x_zero, const ops::Scaling& by, const graph::Data& in,
                     Device device) const;
  /// The same, followed by an epilogue, which may be null.
  Tensor convolution(const Tensor& x, const Tensor& x_zero, const ops::Scaling& by, const Epilogue* epilogue,
                     const graph::Data& in, Device device) const;
  /// The sums in f32 times the product of two factors, of which there may be none. An epilogue follows, which may be
  /// null.
  Tensor convolution(const Tensor& x, const Tensor& x_zero, const std::vector<Tensor>& factors,
                     const Epilogue* epilogue, const graph::Data& in, Device device) const;

 private:
  ops::PairWindows windows_of(const Tensor& x, const graph::Data& in) const;
  Tensor sums_in_f32(const Tensor& x, const Tensor& bias, const std::vector<Tensor>& digits, Device device) const;
  Tensor of_pairs(const Tensor& x, const Tensor& x_zero, const Tensor& filters, const ops::Scaling& by,
                  const graph::Data& in, const ops::ProductEpilogue* epilogue = nullptr) const;

  Sums sums_;
  std::size_t weight_;
  Windows windows_;
  std::int64_t groups_;
  KeptNumbers digits_;
  graph::Run convolve_;
};

/// One number, or one for each filter, in a shape of `rank` axes. The filters are along axis 0. It may be undefined.
Tensor for_filters(const Tensor& parameters, int rank);

}  // namespace crisol::onnx
