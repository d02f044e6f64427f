// Ops of ONNX Runtime, which writes them into models that it has optimised.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/network/convolution.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;

/// The newest op of ONNX itself with this node's attributes and inputs.
Run build_as(const char* op, Call& call) { return find_row("", op, newest_version)->build(call); }

/// An activation by its name, with the numbers of `activation_params`.
std::function<Tensor(const Tensor&)> read_activation(Call& call) {
  const std::string name = call.text("activation", "");
  const std::vector<double> numbers = call.reals("activation_params");
  const auto count = [&](std::size_t expected) {
    require(numbers.size() == expected, "onnx", numbers.size(), " activation_params of ", name, ", ", expected,
            " expected");
  };
  if (name == "Clip" || name == "HardSigmoid") {
    count(2);
    const double a = numbers[0], b = numbers[1];
    if (name == "Clip") return [=](const Tensor& x) { return clamp(x, a, b); };
    return [=](const Tensor& x) { return clamp(x * a + b, 0, 1); };
  }
  if (name == "LeakyRelu") {
    count(1);
    return [slope = numbers[0]](const Tensor& x) { return leaky_relu(x, slope); };
  }
  if (name.empty()) return [](const Tensor& x) { return x; };
  if (name == "Relu") return [](const Tensor& x) { return relu(x); };
  if (name == "Sigmoid") return [](const Tensor& x) { return sigmoid(x); };
  if (name == "Tanh") return [](const Tensor& x) { return tanh(x); };
  fail(ErrorCode::invalid_argument, "onnx", "the activation ", file::in_quotes(name), " is not supported");
}

/// A convolution, the sum with the fourth input if there is one, and an activation if there is one.
Run fused_conv(Call& call) {
  call.check_counts(2, 4);
  const auto activation = read_activation(call);
  const Run conv = convolution(call);
  return [=](const Data& in, Device device) {
    Tensor y =
        conv({in.begin(), in.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(in.size(), 3))}, device)[0]
            .tensor(device);
    if (has_input(in, 3)) y = y + in[3].tensor(device);
    return Data{activation(y)};
  };
}

Run fused_mat_mul(Call& call) {
  call.check_counts(2, 2);
  const double alpha = call.real("alpha", 1);
  const bool turn_a = call.integer("transA", 0) != 0, turn_b = call.integer("transB", 0) != 0;
  require(call.integer("transBatchA", 0) == 0 && call.integer("transBatchB", 0) == 0, "onnx",
          "transBatchA and transBatchB are not supported");
  return [=](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device), b = in[1].tensor(device);
    const Tensor y =
        matmul(turn_a && a.dim() > 1 ? a.transpose(-1, -2) : a, turn_b && b.dim() > 1 ? b.transpose(-1, -2) : b);
    return Data{alpha == 1 ? y : y * alpha};
  };
}

/// An activation of x, or of x plus a bias.
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

/// A normalisation of the sum of two tensors, which is the fourth output.
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
  constexpr const char* domain = "com.microsoft";
  return {
      {"BiasGelu", 1, 1, biased<gelu, true>, domain},
      {"FastGelu", 1, 1, biased<gelu_tanh, false>, domain},
      {"FusedConv", 1, 1, fused_conv, domain},
      {"FusedMatMul", 1, 1, fused_mat_mul, domain},
      {"Gelu", 1, 1, gelu_, domain},
      {"QuickGelu", 1, 1, quick_gelu, domain},
      {"SkipLayerNormalization", 1, 1, skip_normalization<true>, domain},
      {"SkipSimplifiedLayerNormalization", 1, 1, skip_normalization<false>, domain},
  };
}

}  // namespace crisol::onnx
