// Numbers that are quantised to whole numbers of few bits. A number q means scale (q - zero point).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "crisol/functions/elementwise.h"
#include "crisol/fuse.h"
#include "onnx/ops/domains/device_parts.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

/// Throws for elements of other types than whole numbers of one or two bytes. The tensor may be undefined.
void require_quantized(const Tensor& x);

/// The least and the greatest number of a type of whole numbers with at most 32 bits.
struct Range {
  explicit Range(DType dtype) noexcept;

  double least, greatest;
};

/// The nearest number of a quantised type to x / scale, plus the zero point. The quotient is rounded to `precision`
/// before. `zero` may be null. Value is Tensor or Expr.
template <class Value>
Value quantized(const Value& x, const Value& scale, const Value* zero, DType precision, DType result) {
  const Value y = round((x.to(precision) / scale.to(precision)).to(DType::f32));
  const Range range(result);
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

/// Numbers of u8 with their scale and zero point.
struct Quantized {
  Tensor numbers, scale, zero;
};
/// Quantises x of f32. The range of x, extended to include 0, becomes 0 to 255.
Quantized dynamically_quantized(const Tensor& x);

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

/// A right factor b (…, K, N) of quantised numbers.
class WholeFactor {
 public:
  /// The positions of b and its zero point among the inputs. If `turns`, the input is (N, K).
  WholeFactor(const Call& call, std::size_t b, std::size_t zero, Sums sums, bool turns = false);

  /// a times (b - zero), for whole numbers a (…, M, K) from -255 to 255 in f32.
  Tensor product(const Tensor& a, const graph::Data& in, Device device) const;

 private:
  Sums sums_;
  KeptNumbers pieces_;
};

/// Filters of quantised numbers. The node has the attributes of a convolution.
class WholeFilters {
 public:
  /// The positions of the filters and their zero points among the inputs.
  WholeFilters(Call& call, std::size_t weight, std::size_t zero, Sums sums);

  /// The convolution of x with (filters - zero points), for whole numbers x from -255 to 255 in f32. The bias is f32 or
  /// undefined, and only for rounded sums.
  Tensor convolution(const Tensor& x, const Tensor& bias, const graph::Data& in, Device device) const;

 private:
  Sums sums_;
  KeptNumbers digits_;
  graph::Run convolve_;
};

/// One number, or one for each filter, in a shape of `rank` axes. The filters are along axis 0. It may be undefined.
Tensor for_filters(const Tensor& parameters, int rank);

}  // namespace crisol::onnx
