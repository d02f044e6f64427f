// Ops of ONNX Runtime, which it writes into models that it has optimised.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/quantized_weight.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/domains/device_parts.h"
#include "onnx/ops/domains/fused.h"
#include "onnx/ops/half.h"
#include "onnx/ops/network/convolution.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

/// A convolution, followed by the sum with the fourth input and by an activation. Both may be missing.
Run fused_conv(Call& call) {
  call.check_counts(2, 4);
  const FusedActivation activation = activation_of_convolution(call);
  const Run conv = convolution(call);
  return [=](const Data& in, Device device) {
    Tensor y =
        conv({in.begin(), in.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(in.size(), 3))}, device)[0]
            .tensor(device);
    if (has_input(in, 3)) y = y + in[3].tensor(device);
    return Data{activation(y)};
  };
}

/// Gemm, followed by an activation.
Run fused_gemm(Call& call) {
  FusedActivation activation(call.text("activation", ""));
  // Elu and LeakyRelu have alpha, HardSigmoid also has beta, and Selu also has gamma.
  const std::pair<const char*, std::size_t> names[] = {
      {"activation_alpha", 0}, {"activation_beta", 1}, {"activation_gamma", 1}};
  for (const auto& [name, i] : names)
    if (call.has(name)) activation.set(i, call.real(name, 0));
  const Run product = build_as("Gemm", call);
  return [=](const Data& in, Device device) { return Data{activation(product(in, device)[0].tensor(device))}; };
}

/// Moves the first axis of a factor (M, …, K) to the position before the last.
Tensor with_batch_first(const Tensor& x) {
  Numbers order;
  for (int i = 1; i + 1 < x.dim(); ++i) order.push_back(i);
  order.push_back(0);
  order.push_back(x.dim() - 1);
  return x.permute(Shape(order));
}

Run fused_mat_mul(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const double alpha = call.real("alpha", 1);
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  const bool batch_a = call.integer("transBatchA", 0) != 0, batch_b = call.integer("transBatchB", 0) != 0;
  return in_f32(call, [=](const Data& in, Device device) {
    const auto factor = [&](std::size_t i, bool turns, bool moves_batch) {
      Tensor x = in[i].tensor(device);
      if (moves_batch && x.dim() > 2) x = with_batch_first(x);
      return turns && x.dim() > 1 ? x.transpose(-1, -2) : x;
    };
    const Tensor y = matmul(factor(0, turn_a, batch_a), factor(1, turn_b, batch_b));
    return Data{alpha == 1 ? y : y * alpha};
  });
}

/// The format of the weight of a MatMulNBits.
struct PackedFormat {
  std::int64_t columns, rows, bits, block;

  std::int64_t blocks() const { return (columns + block - 1) / block; }

  /// The numbers of a row of packed bytes. The first of two numbers of 4 bits is in the low half.
  std::uint8_t number(const std::vector<std::uint8_t>& bytes, std::int64_t first, std::int64_t i) const {
    const int byte = bytes[static_cast<std::size_t>(first + (bits == 4 ? i / 2 : i))];
    return static_cast<std::uint8_t>(bits == 8 ? byte : i % 2 == 0 ? byte & 15 : byte >> 4);
  }

  QuantizedWeight read(const Tensor& packed, const Tensor& scales, const Tensor& zeros, Device device) const {
    const std::int64_t in_block = block * bits / 8, of_zeros = (blocks() * bits + 7) / 8;
    require(packed.dtype() == DType::u8 && packed.numel() == rows * blocks() * in_block, "onnx", "codes of ",
            packed.dtype(), " with shape ", packed.shape(), ", u8 (", rows, ", ", blocks(), ", ", in_block,
            ") expected");
    require(scales.numel() == rows * blocks(), "onnx", "scales of shape ", scales.shape(), ", ", rows * blocks(),
            " numbers expected");
    if (zeros.defined())
      require(zeros.dtype() == DType::u8 && zeros.numel() == rows * of_zeros, "onnx", "zero points of ", zeros.dtype(),
              " with shape ", zeros.shape(), ", ", rows * of_zeros, " bytes of u8 expected");
    const std::vector<std::uint8_t> bytes = packed.to_vector<std::uint8_t>();
    const std::vector<std::uint8_t> zero_bytes =
        zeros.defined() ? zeros.to_vector<std::uint8_t>() : std::vector<std::uint8_t>();
    std::vector<std::uint8_t> codes, zero_points;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c)
        codes.push_back(number(bytes, (r * blocks() + c / block) * in_block, c % block));
      for (std::int64_t b = 0; zeros.defined() && b < blocks(); ++b)
        zero_points.push_back(number(zero_bytes, r * of_zeros, b));
    }
    return QuantizedWeight::from_codes(codes, scales.to(DType::f32).to_vector<float>(), zero_points, {rows, columns},
                                       static_cast<int>(bits), block, device);
  }
};

/// The product with a weight of 4 or 8 bits. A weight that the file stores is converted once.
Run mat_mul_n_bits(Call& call) {
  call.check_counts(3, 6);
  call.gives_type_of(0);
  const PackedFormat format{call.integer("K", 0), call.integer("N", 0), call.integer("bits", 4),
                            call.integer("block_size", 128)};
  call.integer("accuracy_level", 0);  // A permission to round the input, which is not used.
  require(call.integer("weight_prepacked", 0) == 0, "onnx", "weight_prepacked is not supported");
  require(!call.has_input(4), "onnx", "g_idx is not supported");
  require(format.bits == 4 || format.bits == 8, "onnx", "bits is ", format.bits, ", 4 and 8 are supported");
  require(format.block == 16 || (format.block > 0 && format.block % 32 == 0), "onnx", "block_size is ", format.block);
  require(format.columns > 0 && format.rows > 0, "onnx", "K is ", format.columns, " and N ", format.rows);
  const Datum codes = call.stored(1), scales = call.stored(2), zeros = call.stored(3);
  const bool is_stored = codes.defined() && scales.defined() && zeros.defined() == call.has_input(3);
  const DeviceParts<QuantizedWeight> kept([=](Device device) {
    return format.read(codes.tensor(device), scales.tensor(device), zeros.tensor(device), device);
  });
  return [=](const Data& in, Device device) {
    const QuantizedWeight weight =
        is_stored ? kept.on(device)
                  : format.read(in[1].tensor(device), in[2].tensor(device), input_of(in, 3, device), device);
    return Data{linear(in[0].tensor(device), weight, input_of(in, 5, device))};
  };
}

/// An activation of x, or of the sum of x and a bias.
template <Tensor (*f)(const Tensor&), bool needs_bias>
Run biased(Call& call) {
  call.check_counts(needs_bias ? 2 : 1, 2);
  call.gives_type_of(0);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), bias = input_of(in, 1, device);
    return Data{f(bias.defined() ? x + bias : x)};
  };
}

Run gelu_(Call& call) { return build_as("Gelu", call); }

Run quick_gelu(Call& call) {
  call.check_counts(1, 1);
  call.gives_type_of(0);
  const double alpha = call.real("alpha", 1.702f);
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    return Data{x * sigmoid(x * alpha)};
  };
}

/// A normalisation of the sum of two tensors. The sum itself is the fourth output.
template <bool centres>
Run skip_normalization(Call& call) {
  call.check_counts(3, centres ? 5 : 4, 4);
  call.gives_type_of(0);
  call.gives(3, value_of(call.dtype_of(0)));
  require(!call.has_output(1) && !call.has_output(2), "onnx", "outputs 1 and 2 are not supported");
  const double epsilon = call.real("epsilon", 1e-12f);
  return [=](const Data& in, Device device) {
    Tensor x = in[0].tensor(device) + in[1].tensor(device);
    const Tensor scale = in[2].tensor(device), bias = input_of(in, centres ? 4 : 3, device);
    if (bias.defined()) x = x + bias;
    if (!centres) {
      const Tensor squares = x.to(DType::f32).square();  // f16 cannot hold squares above 65504.
      return Data{(x * rsqrt(mean(squares, -1, true) + epsilon) * scale).to(x.dtype()), Datum(), Datum(), x};
    }
    const Tensor shift = input_of(in, 3, device);
    return Data{layer_norm(x, scale.shape(), scale, shift.defined() ? shift : zeros_like(scale), epsilon), Datum(),
                Datum(), x};
  };
}

}  // namespace

std::vector<Row> microsoft_rows() {
  constexpr const char* domain = microsoft_domain;
  return {
      {"BiasGelu", 1, 1, biased<gelu, true>, domain},
      {"FastGelu", 1, 1, biased<gelu_tanh, false>, domain},
      {"FusedConv", 1, 1, fused_conv, domain},
      {"FusedGemm", 1, 1, fused_gemm, domain},
      {"FusedMatMul", 1, 1, fused_mat_mul, domain},
      {"Gelu", 1, 1, gelu_, domain},
      {"MatMulNBits", 1, 1, mat_mul_n_bits, domain},
      {"QuickGelu", 1, 1, quick_gelu, domain},
      {"SkipLayerNormalization", 1, 1, skip_normalization<true>, domain},
      {"SkipSimplifiedLayerNormalization", 1, 1, skip_normalization<false>, domain},
  };
}

}  // namespace crisol::onnx
