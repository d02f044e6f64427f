// Ops on numbers that are quantised to 2 to 16 bits, or to small floating-point types. A number q means scale (q - zero
// point).
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/reduce.h"
#include "dispatch/target.h"
#include "graph/ops/runs.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/network/quantized.h"
#include "onnx/ops/small_types.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using graph::with_epilogue;

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

  /// The operands of a run. The parameters broadcast to x, and the zero point may be undefined.
  struct Operands {
    Tensor x, zero, scale;
  };
  Operands operands(const Data& in, Device device) const {
    const Tensor x = in[0].tensor(device);
    return {x, spread(input_of(in, 2, device), x), spread(in[1].tensor(device), x)};
  }

  std::int64_t axis = 1;
  std::int64_t block = 0;  ///< 0 means no blocks.
};

/// Whether the scale and the zero point of the node are one number each, so that they broadcast as they are.
bool is_for_all(const Call& call) {
  const auto is_number = [&](std::size_t i) { return !call.has_input(i) || call.rank_of(i) == 0; };
  return is_number(1) && is_number(2);
}

/// The type of the numbers that a QuantizeLinear gives.
Element quantised_type(Call& call) {
  const std::int64_t type = call.version() >= 21 ? call.integer("output_dtype", 0) : 0;
  Element result{call.dtype_of(2).value_or(DType::u8), small_type(call.input(2))};
  if (type != 0) result = element_of_number(type);
  require(result.small != nullptr || (is_whole(result.dtype) && size_of(result.dtype) <= 2), "onnx",
          "quantised elements of ", result.dtype, " are not supported, u8, i8, u16 and i16 are");
  if (!call.has_input(2)) return result;
  call.require_dtype(2, result.dtype);
  require(small_type(call.input(2)) == result.small, "onnx", "the zero point has another type than the result");
  return result;
}

/// The nearest numbers of a small floating-point type to x / scale + zero.
Run quantize_to_reals(const Granularity& granularity, const SmallType& type, const Rounding& rounding,
                      std::optional<DType> precision) {
  return [=, to_type = ToSmallType(type, rounding)](const Data& in, Device device) {
    const auto [x, zero, scale] = granularity.operands(in, device);
    const DType computed = precision ? *precision : scale.dtype();
    const Tensor y = (x.to(computed) / scale.to(computed)).to(DType::f32);
    return Data{to_type(zero.defined() ? y + zero.to(DType::f32) : y)};
  };
}

Run quantize_linear(Call& call) {
  call.check_counts(2, 3);
  call.takes_small_types();
  const Granularity granularity(call);
  const Rounding rounding(call);
  const Element result = quantised_type(call);
  const std::int64_t precision_number = call.version() >= 23 ? call.integer("precision", 0) : 0;
  std::optional<DType> precision;
  if (precision_number != 0) precision = dtype_of_number(precision_number);
  require(!precision || is_floating(*precision), "onnx", "precision ", precision_number, " is not supported");
  graph::Value y = call.input(0);
  result.describe(y);
  call.gives(0, y);
  if (result.small != nullptr && !result.small->is_whole())
    return quantize_to_reals(granularity, *result.small, rounding, precision);
  const Range range = result.small != nullptr ? result.small->range() : Range(result.dtype);
  Run run([=](const Data& in, Device device) {
    const auto [x, zero, scale] = granularity.operands(in, device);
    return Data{quantized(x, scale, zero.defined() ? &zero : nullptr, precision ? *precision : scale.dtype(),
                          zero.defined() ? zero.dtype() : result.dtype, range)};
  });
  if (is_for_all(call) && (precision || call.dtype_of(1)))
    run.formula = [=, rounded = precision ? *precision : *call.dtype_of(1)](std::span<const Expr> in) {
      return quantized(in[0], in[1], in.size() > 2 ? &in[2] : nullptr, rounded, result.dtype, range);
    };
  return run;
}

/// scale (x - zero) for x of a small floating-point type.
Run dequantize_reals(const Granularity& granularity, std::optional<DType> result) {
  return [=](const Data& in, Device device) {
    const auto [x, zero, scale] = granularity.operands(in, device);
    const Tensor real = x.to(DType::f32);
    const Tensor y = (zero.defined() ? real - zero.to(DType::f32) : real) * scale.to(DType::f32);
    return Data{y.to(result ? *result : scale.dtype())};
  };
}

Run dequantize_linear(Call& call) {
  call.check_counts(2, 3);
  call.takes_small_types();
  const Granularity granularity(call);
  const std::int64_t type = call.version() >= 23 ? call.integer("output_dtype", 0) : 0;
  std::optional<DType> result = call.dtype_of(1);
  if (type != 0) result = dtype_of_number(type);
  graph::Value y = call.input(0);
  y.dtype = result;
  y.small = 0;
  call.gives(0, y);
  const SmallType* const small = small_type(call.input(0));
  if (small != nullptr && !small->is_whole()) return dequantize_reals(granularity, result);
  Run run([=](const Data& in, Device device) {
    const auto [x, zero, scale] = granularity.operands(in, device);
    require(is_whole(x.dtype()) && size_of(x.dtype()) <= 4, "onnx", "quantised elements of ", x.dtype(),
            " are not supported, whole numbers of at most 32 bits are");
    return Data{dequantized(x, scale, zero.defined() ? &zero : nullptr, result ? *result : scale.dtype())};
  });
  if (is_for_all(call) && result)
    run.formula = [wanted = *result](std::span<const Expr> in) {
      return dequantized(in[0], in[1], in.size() > 2 ? &in[2] : nullptr, wanted);
    };
  return run;
}

Run dynamic_quantize_linear(Call& call) {
  call.check_counts(1, 1, 3);
  call.require_dtype(0, DType::f32);
  graph::Value y = call.input(0);
  y.dtype = DType::u8;
  call.gives(0, y);
  call.gives(1, value_of(DType::f32, 0));
  call.gives(2, value_of(DType::u8, 0));
  Run run([](const Data& in, Device device) {
    const auto [y, scale, zero] = dynamically_quantized(in[0].tensor(device));
    return Data{y, scale, zero};
  });
  run.centred = [](const Data& in, Device device) {
    const ops::RangeQuantized y = ops::quantize_range(in[0].tensor(device), true);
    return Data{y.numbers, y.scale, graph::Datum()};
  };
  return run;
}

Run mat_mul_integer(Call& call) {
  call.check_counts(2, 4);
  call.gives(0, value_of(DType::i32));
  const WholeFactor right(call, 1, 3, Sums::exact);
  Run run([right](const Data& in, Device device) {
    return Data{right.product(in[0].tensor(device), for_rows(input_of(in, 2, device)), ops::Scaling(), in, device)};
  });
  run.takes_centred = true;
  run.in_f32 = [right](const Data& in, Device device, const std::vector<Tensor>& factors, const Epilogue* epilogue) {
    return right.product(in[0].tensor(device), for_rows(input_of(in, 2, device)), as_f32(factors), epilogue, in,
                         device);
  };
  return run;
}

Run q_linear_mat_mul(Call& call) {
  call.check_counts(8, 8);
  call.gives_type_of(7);
  const WholeFactor right(call, 3, 5, Sums::rounded);
  return with_epilogue([right](const Data& in, Device device, const Epilogue* epilogue) {
    const auto t = [&](std::size_t i) { return in[i].tensor(device); };
    const ops::Scaling by{.result = t(7).dtype(),
                          .left = t(1).to(DType::f32),
                          .right = t(4).to(DType::f32),
                          .over = t(6).to(DType::f32),
                          .zero = t(7)};
    return right.product(t(0), for_rows(t(2)), by, epilogue, in, device);
  });
}

Run conv_integer(Call& call) {
  call.check_counts(2, 4);
  call.gives(0, value_of(DType::i32));
  const WholeFilters filters(call, 1, 3, Sums::exact);
  Run run([filters](const Data& in, Device device) {
    return Data{filters.convolution(in[0].tensor(device), input_of(in, 2, device), ops::Scaling(), in, device)};
  });
  run.in_f32 = [filters](const Data& in, Device device, const std::vector<Tensor>& factors, const Epilogue* epilogue) {
    return filters.convolution(in[0].tensor(device), input_of(in, 2, device), factors, epilogue, in, device);
  };
  return run;
}

Run q_linear_conv(Call& call) {
  call.check_counts(8, 9);
  call.gives_type_of(7);
  const WholeFilters filters(call, 3, 5, Sums::rounded);
  return with_epilogue([filters](const Data& in, Device device, const Epilogue* epilogue) {
    const auto t = [&](std::size_t i) { return in[i].tensor(device); };
    const ops::Scaling by{.result = t(7).dtype(),
                          .left = t(4),
                          .right = t(1),
                          .over = t(6),
                          .bias = input_of(in, 8, device),
                          .bias_of_rows = true,
                          .zero = t(7)};
    return filters.convolution(t(0), t(2), by, epilogue, in, device);
  });
}

}  // namespace

ops::RangeQuantized dynamically_quantized(const Tensor& x) {
  if (dispatch::target_of(x.device().state()).takes_cpu_kernels()) return ops::quantize_range(x);
  static const auto parameters = fuse(
      [](const Expr& least, const Expr& greatest) {
        const Expr low = minimum(least, 0), range = maximum(greatest, 0) - low;
        const Expr scale = where(eq(range, 0), 1, range / 255);
        return std::array<Expr, 2>{scale, round(clamp(-low / scale, 0, 255)).to(DType::u8)};
      },
      "quantization");
  static const auto numbers =
      fuse([](const Expr& values, const Expr& scale,
              const Expr& zero) { return quantized(values, scale, &zero, DType::f32, DType::u8, Range(DType::u8)); },
           "quantized");
  const auto [scale, zero] = parameters(x.min(), x.max());
  return {numbers(x, scale, zero), scale, zero};
}

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
