// Activations with parameters.
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/math/elements.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// f works on tensors and on expressions.
template <class F>
Run of_elements(Call& call, F f) {
  call.check_counts(1, 1);
  call.gives_same();
  return {[f](const Data& in, Device device) { return Data{f(in[0].tensor(device))}; },
          [f](std::span<const Expr> in) { return f(in[0]); }};
}

/// Bounds are attributes up to version 10.
Run clip_attributes(Call& call) {
  return run_of_row(call, rows::clamp,
                    {call.real("min", -3.4028234663852886e38), call.real("max", 3.4028234663852886e38)});
}

/// Bounds that the file stores behave like numbers in PyTorch's clamp: where x equals a bound, the gradient of x is 0.
/// Computed bounds behave like tensors in PyTorch's clamp: where x equals a bound, both get half of the gradient.
Run clip(Call& call) {
  call.check_counts(1, 3);
  call.gives_same();
  const bool has_lower = call.has_input(1), has_upper = call.has_input(2);
  const bool lower_is_stored = call.stored(1).defined(), upper_is_stored = call.stored(2).defined();
  const auto run = [=](const Data& in, Device device) {
    Tensor x = in[0].tensor(device);
    if (has_input(in, 1)) {
      const Tensor lower = in[1].tensor(device);
      x = lower_is_stored ? where(x.le(lower), lower, x) : maximum(x, lower);
    }
    if (has_input(in, 2)) {
      const Tensor upper = in[2].tensor(device);
      x = upper_is_stored ? where(x.ge(upper), upper, x) : minimum(x, upper);
    }
    return Data{x};
  };
  return {run, [=](std::span<const Expr> in) {
            const Expr x = has_lower ? maximum(in[0], in[1]) : in[0];
            return has_upper ? minimum(x, in[2]) : x;
          }};
}

/// A row with one number, the attribute alpha. Its default is `percent` hundredths.
template <const ops::PointwiseRow& row, int percent>
Run with_alpha(Call& call) {
  return run_of_row(call, row, {call.real("alpha", percent / 100.0f)});
}

Run hard_sigmoid_(Call& call) {
  const double alpha = call.real("alpha", 0.2f), beta = call.real("beta", 0.5);
  return of_elements(call, [=](const auto& x) { return clamp(x * alpha + beta, 0, 1); });
}

Run gelu_(Call& call) {
  return run_of_row(call, call.text_of("approximate", {"none", "tanh"}) == "tanh" ? rows::gelu_tanh : rows::gelu);
}

Run selu_(Call& call) {
  const bool is_rounded = call.version() < 6;  // In version 1, the default has four decimals.
  const double alpha = call.real("alpha", is_rounded ? 1.6732f : 1.6732632423543772f),
               gamma = call.real("gamma", is_rounded ? 1.0507f : 1.0507009873554805f);
  return of_elements(call, [=](const auto& x) { return elu(x, alpha) * gamma; });
}

Run swish(Call& call) {
  const double alpha = call.real("alpha", 1);
  return of_elements(call, [=](const auto& x) { return x * sigmoid(alpha == 1 ? x : x * alpha); });
}

/// swish of the first input, times the second input.
Run swi_glu(Call& call) {
  call.check_counts(2, 2);
  call.gives_type_of(0);
  const double alpha = call.real("alpha", 1);
  return [=](const Data& in, Device device) {
    const Tensor a = in[0].tensor(device), b = in[1].tensor(device);
    require(a.shape() == b.shape(), "onnx", "inputs of shapes ", a.shape(), " and ", b.shape());
    return Data{a * sigmoid(alpha == 1 ? a : a * alpha) * b};
  };
}

Run shrink(Call& call) {
  const double bias = call.real("bias", 0), bound = call.real("lambd", 0.5);
  return of_elements(call,
                     [=](const auto& x) { return where(lt(x, -bound), x + bias, where(gt(x, bound), x - bias, 0)); });
}

Run thresholded_relu(Call& call) {
  const double alpha = call.real("alpha", 1);
  return of_elements(call, [=](const auto& x) { return where(gt(x, alpha), x, 0); });
}

/// ONNX broadcasts the slope by its usual rule. The library takes a slope with one axis, for channels.
Run prelu_(Call& call) {
  call.check_counts(2, 2);
  call.gives_same();
  return {[](const Data& in, Device device) {
            const Tensor x = in[0].tensor(device), slope = in[1].tensor(device);
            return Data{where(x.lt(0), x * slope, x)};
          },
          [](std::span<const Expr> in) { return where(lt(in[0], 0), in[0] * in[1], in[0]); }};
}

/// One slope for all elements, or one for each channel.
Run prelu_of_version_6(Call& call) {
  call.check_counts(2, 2);
  call.gives_same();
  return [](const Data& in, Device device) {
    const Tensor slope = in[1].tensor(device);
    require(slope.numel() == 1 || slope.dim() == 1, "onnx", "a slope of shape ", slope.shape());
    return Data{prelu(in[0].tensor(device), slope)};
  };
}

}  // namespace

std::vector<Row> activation_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Celu", 12, newest, with_alpha<rows::celu, 100>},
      {"Clip", 1, 10, clip_attributes},
      {"Clip", 11, newest, clip},
      {"Elu", 1, newest, with_alpha<rows::elu, 100>},
      {"Gelu", 20, newest, gelu_},
      {"HardSigmoid", 1, newest, hard_sigmoid_},
      {"LeakyRelu", 1, newest, with_alpha<rows::leaky_relu, 1>},
      {"PRelu", 1, 6, prelu_of_version_6},
      {"PRelu", 7, newest, prelu_},
      {"Selu", 1, newest, selu_},
      {"Shrink", 9, newest, shrink},
      {"SwiGLU", 28, newest, swi_glu},
      {"Swish", 24, newest, swish},
      {"ThresholdedRelu", 10, newest, thresholded_relu},
  };
}

}  // namespace crisol::onnx
