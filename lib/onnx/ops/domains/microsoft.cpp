// Ops of ONNX Runtime, which it writes into models that it has optimised.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
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

/// An activation of x, or of the sum of x and a bias.
template <Tensor (*f)(const Tensor&), bool needs_bias>
Run biased(Call& call) {
  call.check_counts(needs_bias ? 2 : 1, 2);
  return [](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), bias = input_of(in, 1, device);
    return Data{f(bias.defined() ? x + bias : x)};
  };
}

Run gelu_(Call& call) { return build_as("Gelu", call); }

Run quick_gelu(Call& call) {
  call.check_counts(1, 1);
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
      {"QuickGelu", 1, 1, quick_gelu, domain},
      {"SkipLayerNormalization", 1, 1, skip_normalization<true>, domain},
      {"SkipSimplifiedLayerNormalization", 1, 1, skip_normalization<false>, domain},
  };
}

}  // namespace crisol::onnx
