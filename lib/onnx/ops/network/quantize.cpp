// Ops on numbers that are quantised to u8. A u8 number x means scale (x - zero point).
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"
#include "onnx/ops/vision/windows.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

void require_u8(const Tensor& x) {
  if (x.defined())
    require(x.dtype() == DType::u8, "onnx", "quantised elements of ", x.dtype(), " are not supported, u8 are");
}

/// The nearest u8. The input is already rounded, so only the range is limited.
Tensor saturated(const Tensor& x) { return clamp(x, 0, 255).to(DType::u8); }

/// Which elements of x share a scale and a zero point: all elements, the elements at one position of an axis, or the
/// elements of one block along an axis.
struct Granularity {
  explicit Granularity(Call& call) {
    if (call.version() >= 13) axis = call.integer("axis", 1);
    if (call.version() >= 21) block = call.integer("block_size", 0);
    require(block >= 0, "onnx", "block_size is ", block);
  }

  /// The parameters in a shape that broadcasts to x.
  Tensor spread(const Tensor& parameter, const Tensor& x) const {
    if (!parameter.defined() || parameter.numel() == 1)
      return parameter.defined() ? parameter.reshape(Shape()) : parameter;
    const int along = axis_of(axis, x.dim());
    if (block == 0) {
      require(parameter.shape() == Shape(x.size(along)), "onnx", "a scale or zero point of shape ", parameter.shape(),
              " for axis ", axis, " of an input of shape ", x.shape());
      Shape shape = Shape::filled(x.dim(), 1);
      shape[along] = x.size(along);
      return parameter.reshape(shape);
    }
    const std::int64_t each = std::clamp<std::int64_t>(block, 1, std::max<std::int64_t>(1, x.size(along)));
    Shape expected = x.shape();
    expected[along] = (x.size(along) + each - 1) / each;
    require(parameter.shape() == expected, "onnx", "a scale or zero point of shape ", parameter.shape(), ", ", expected,
            " expected");
    Shape wide = expected, merged = expected;
    wide.insert(along + 1, each);
    merged[along] *= each;
    return parameter.unsqueeze(along + 1).expand(wide).reshape(merged).narrow(along, 0, x.size(along));
  }

  std::int64_t axis = 1;
  std::int64_t block = 0;  ///< 0 means no blocks.
};

Run quantize_linear(Call& call) {
  call.check_counts(2, 3);
  const Granularity granularity(call);
  if (call.version() >= 19) call.ignore({"saturate"});  // It matters only for other types than u8.
  const std::int64_t type = call.version() >= 21 ? call.integer("output_dtype", 0) : 0;
  require(type == 0 || dtype_of_number(type) == DType::u8, "onnx", "output_dtype ", type, " is not supported, u8 is");
  const std::int64_t precision_number = call.version() >= 23 ? call.integer("precision", 0) : 0;
  std::optional<DType> precision;
  if (precision_number != 0) precision = dtype_of_number(precision_number);
  require(!precision || is_floating(*precision), "onnx", "precision ", precision_number, " is not supported");
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), zero = input_of(in, 2, device);
    const Tensor scale = granularity.spread(in[1].tensor(device), x);
    require_u8(zero);
    const DType dtype = precision ? *precision : scale.dtype();
    const Tensor y = round((x.to(dtype) / scale.to(dtype)).to(DType::f32));
    return Data{saturated(zero.defined() ? y + granularity.spread(zero, x) : y)};
  };
}

Run dequantize_linear(Call& call) {
  call.check_counts(2, 3);
  const Granularity granularity(call);
  const std::int64_t type = call.version() >= 23 ? call.integer("output_dtype", 0) : 0;
  std::optional<DType> wanted;
  if (type != 0) wanted = dtype_of_number(type);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), zero = granularity.spread(input_of(in, 2, device), x);
    const Tensor scale = granularity.spread(in[1].tensor(device), x);
    require(is_whole(x.dtype()) && size_of(x.dtype()) <= 4, "onnx", "quantised elements of ", x.dtype(),
            " are not supported, u8 and i32 are");
    const Tensor centred =
        x.to(DType::i32) - (zero.defined() ? zero.to(DType::i32) : zeros(Shape(), DType::i32, device));
    const DType dtype = wanted ? *wanted : scale.dtype();
    return Data{(centred.to(DType::f32) * scale.to(DType::f32)).to(dtype)};
  };
}

/// Quantises x. The range of x, extended to include 0, becomes 0 to 255.
Run dynamic_quantize_linear(Call& call) {
  call.check_counts(1, 1, 3);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const Tensor least = minimum(x.min(), 0), range = maximum(x.max(), 0) - least;
    const Tensor scale = where(range.eq(0), 1, range) / 255;
    const Tensor zero = round(clamp(-least / scale, 0, 255));
    return Data{saturated(round(x / scale) + zero), scale, zero.to(DType::u8)};
  };
}

/// The product of matrices of whole numbers from -255 to 255, as i32. f32 adds 256 such products without rounding, so
/// longer sums are split.
Tensor exact_product(const Tensor& a, const Tensor& b) {
  constexpr std::int64_t most = 256;
  const std::int64_t length = a.size(-1);
  require(b.dim() >= 2 && b.size(-2) == length, "onnx", "factors of shapes ", a.shape(), " and ", b.shape());
  Tensor result;
  for (std::int64_t at = 0; at < std::max<std::int64_t>(length, 1); at += most) {
    const std::int64_t count = std::min(most, length - at);
    const Tensor part = matmul(a.narrow(-1, at, count), b.narrow(-2, at, count)).to(DType::i32);
    result = result.defined() ? result + part : part;
  }
  return result;
}

/// x - zero in f32.
Tensor centred(const Tensor& x, const Tensor& zero) {
  require_u8(x);
  require_u8(zero);
  return zero.defined() ? x.to(DType::f32) - zero.to(DType::f32) : x.to(DType::f32);
}

/// The parameters of matrices' rows: a vector becomes a column, and a single number is for all rows.
Tensor for_rows(const Tensor& t) { return t.defined() && t.dim() == 1 && t.numel() > 1 ? t.unsqueeze(1) : t; }

Run mat_mul_integer(Call& call) {
  call.check_counts(2, 4);
  return [](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device), b = in[1].tensor(device);
    require(a.dim() >= 2 && b.dim() >= 2, "onnx", "factors of shapes ", a.shape(), " and ", b.shape(),
            ", matrices expected");
    return Data{exact_product(centred(a, for_rows(input_of(in, 2, device))), centred(b, input_of(in, 3, device)))};
  };
}

/// Quantises whole numbers times `factor`, with a zero point.
Tensor requantized(const Tensor& numbers, const Tensor& factor, const Tensor& zero) {
  require_u8(zero);
  return saturated(round(numbers.to(DType::f32) * factor) + zero.to(DType::f32));
}

Run q_linear_mat_mul(Call& call) {
  call.check_counts(8, 8);
  return [](const Data& in, Device device) {
    std::vector<Tensor> t;
    for (const Datum& one : in) t.push_back(one.tensor(device));
    require(t[0].dim() >= 2 && t[3].dim() >= 2, "onnx", "factors of shapes ", t[0].shape(), " and ", t[3].shape(),
            ", matrices expected");
    const Tensor sums = exact_product(centred(t[0], for_rows(t[2])), centred(t[3], t[5]));
    const Tensor factor = for_rows(t[1]).to(DType::f32) * t[4].to(DType::f32) / for_rows(t[6]).to(DType::f32);
    return Data{requantized(sums, factor, for_rows(t[7]))};
  };
}

/// The convolution of images (N, C, H, W) with weights (K, C / G, R, S), as i32. Both are whole numbers from -255 to
/// 255.
Tensor exact_convolution(const Tensor& x, const Tensor& weight, const Windows& w, std::int64_t groups) {
  const Tensor image = padded(x, w, 0);
  const std::int64_t batch = x.size(0), channels = x.size(1) / groups, filters = weight.size(0) / groups;
  const auto places = [&](int axis, std::size_t i) {
    return (image.size(axis) - w.dilations[i] * (weight.size(axis) - 1) - 1) / w.strides[i] + 1;
  };
  const std::int64_t height = places(2, 0), width = places(3, 1);
  require(height > 0 && width > 0, "onnx", "a kernel of shape ", weight.shape(), " on images of shape ", image.shape());
  std::vector<Tensor> parts;
  for (std::int64_t r = 0; r < weight.size(2); ++r)
    for (std::int64_t s = 0; s < weight.size(3); ++s) {
      const std::int64_t top = r * w.dilations[0], left = s * w.dilations[1];
      parts.push_back(image[{Ellipsis, Slice(top, top + (height - 1) * w.strides[0] + 1, w.strides[0]),
                             Slice(left, left + (width - 1) * w.strides[1] + 1, w.strides[1])}]);
    }
  const std::int64_t taps = channels * static_cast<std::int64_t>(parts.size());
  const Tensor patches = stack(parts, 2).reshape({batch, groups, taps, height * width});
  return exact_product(weight.reshape({groups, filters, taps}), patches)
      .reshape({batch, weight.size(0), height, width});
}

/// A convolution of integers, with its attributes.
struct IntegerConvolution {
  explicit IntegerConvolution(Call& call) : windows(call), groups(call.integer("group", 1)) {
    require(groups >= 1, "onnx", "group is ", groups);
  }

  /// `weight_zero` is one number, or has one number for each filter.
  Tensor operator()(const Tensor& x, const Tensor& zero, const Tensor& weight, const Tensor& weight_zero) const {
    require(x.dim() == 4 && weight.dim() == 4 && x.size(1) == groups * weight.size(1) && weight.size(0) % groups == 0,
            "onnx", "images of shape ", x.shape(), " and a weight of shape ", weight.shape(), " in ", groups,
            " groups");
    const Tensor of_filters = weight_zero.defined() ? per_filter(weight_zero, 4) : weight_zero;
    return exact_convolution(centred(x, zero), centred(weight, of_filters),
                             windows.for_input(spatial_of(x), spatial_of(weight)), groups);
  }

  /// One number, or one for each filter, in a shape of `rank` axes. The filters are along axis 0.
  static Tensor per_filter(const Tensor& t, int rank) {
    Shape shape = Shape::filled(rank, 1);
    shape[0] = t.numel();
    return t.reshape(shape);
  }

  Windows windows;
  std::int64_t groups;
};

Run conv_integer(Call& call) {
  call.check_counts(2, 4);
  const IntegerConvolution convolution(call);
  return [=](const Data& in, Device device) {
    return Data{
        convolution(in[0].tensor(device), input_of(in, 2, device), in[1].tensor(device), input_of(in, 3, device))};
  };
}

Run q_linear_conv(Call& call) {
  call.check_counts(8, 9);
  const IntegerConvolution convolution(call);
  return [=](const Data& in, Device device) {
    std::vector<Tensor> t;
    for (const Datum& one : in) t.push_back(one.tensor(device));
    Tensor sums = convolution(t[0], t[2], t[3], t[5]);
    if (has_input(in, 8)) sums = sums + IntegerConvolution::per_filter(t[8], 3);
    const Tensor factor = t[1] * IntegerConvolution::per_filter(t[4], 3) / t[6];
    return Data{requantized(sums, factor, t[7])};
  };
}

}  // namespace

std::vector<Row> quantize_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"ConvInteger", 10, newest, conv_integer},
      {"DequantizeLinear", 10, newest, dequantize_linear},
      {"DynamicQuantizeLinear", 11, newest, dynamic_quantize_linear},
      {"MatMulInteger", 10, newest, mat_mul_integer},
      {"QLinearConv", 10, newest, q_linear_conv},
      {"QLinearMatMul", 10, newest, q_linear_mat_mul},
      {"QuantizeLinear", 10, newest, quantize_linear},
  };
}

}  // namespace crisol::onnx
