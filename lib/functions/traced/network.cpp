// Convolutions, products, normalisations and pools.
#include "base/text.h"
#include "functions/traced/traced.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers both(IntPair pair) { return {pair.h, pair.w}; }
Numbers pads(IntPair pair) { return {pair.h, pair.w, pair.h, pair.w}; }

/// A tensor of rank 2 from rows of numbers.
Value matrix(Recorder& r, const std::vector<float>& values, std::int64_t rows, std::int64_t columns, Device device) {
  Tensor made;
  {
    const PauseRecorder pause;
    made = from_vector(values, {rows, columns}, device);
  }
  return r.of(made);
}

Value filled(Recorder& r, const Shape& shape, double value, Device device) {
  Tensor made;
  {
    const PauseRecorder pause;
    made = full(shape, value, DType::f32, device);
  }
  return r.of(made);
}

/// The number of windows of a pool. With `ceil` the last one may begin inside of the input and end behind its padding.
std::int64_t windows(std::int64_t size, int kernel, int stride, int padding, int dilation, bool ceil) {
  const std::int64_t rest = size + 2 * padding - static_cast<std::int64_t>(dilation) * (kernel - 1) - 1;
  return (rest + (ceil ? stride - 1 : 0)) / stride + 1;
}

/// Whether ceil_mode changes the shape. ONNX's formula has a last window that lies in the padding alone, too.
bool needs_ceil(const char* op, const Tensor& x, const Tensor& y, IntPair kernel, IntPair stride, IntPair padding,
                IntPair dilation) {
  const auto of = [&](bool ceil) {
    return Shape{windows(x.size(2), kernel.h, stride.h, padding.h, dilation.h, ceil),
                 windows(x.size(3), kernel.w, stride.w, padding.w, dilation.w, ceil)};
  };
  const Shape image{y.size(2), y.size(3)};
  if (image == of(false)) return false;
  require(image == of(true), op, "ceil_mode gives an image of ", image, " here, which ONNX computes as ", of(true));
  return true;
}

IntPair stride_of(IntPair stride, IntPair kernel) { return stride == IntPair(0) ? kernel : stride; }

}  // namespace

void conv2d(Recorder& r, const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
            const Tensor& y) {
  std::vector<Value> inputs{r.of(x), r.of(weight)};
  if (bias.defined()) inputs.push_back(r.of(bias));
  r.bind(y, r.node("Conv", inputs,
                   {{"kernel_shape", Numbers{weight.size(2), weight.size(3)}},
                    {"strides", both(options.stride)},
                    {"pads", pads(options.padding)},
                    {"dilations", both(options.dilation)},
                    {"group", options.groups}}));
}

void linear(Recorder& r, const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& y) {
  if (x.dim() == 2 && bias.defined()) return r.note("Gemm", {x, weight, bias}, y, {{"transB", 1}});
  const Value turned = r.node("Transpose", {r.of(weight)}, {{"perm", Numbers{1, 0}}});
  const Value product = r.node("MatMul", {r.of(x), turned});
  r.bind(y, bias.defined() ? r.node("Add", {product, r.of(bias)}) : product);
}

void batch_norm(Recorder& r, const Tensor& x, const std::vector<Tensor>& of_channels, const BatchNormOptions& options,
                const Tensor& y) {
  require(!options.training, "trace", "batch_norm2d with the statistics of the batch has no form in ONNX; call eval()");
  std::vector<Value> inputs{r.of(x)};
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor& given = of_channels[i];
    inputs.push_back(given.defined() ? r.of(given) : filled(r, {x.size(1)}, i == 0 ? 1 : 0, x.device()));
  }
  r.bind(y, r.node("BatchNormalization", inputs, {{"epsilon", options.epsilon}}));
}

void layer_norm(Recorder& r, const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                double epsilon, const Tensor& y) {
  std::vector<Value> inputs{r.of(x), weight.defined() ? r.of(weight) : filled(r, normalized_shape, 1, x.device())};
  if (bias.defined()) inputs.push_back(r.of(bias));
  r.bind(y, r.node("LayerNormalization", inputs, {{"axis", -normalized_shape.rank()}, {"epsilon", epsilon}}));
}

void max_pool(Recorder& r, const Tensor& x, const MaxPool2dOptions& o, const Tensor& y) {
  const IntPair stride = stride_of(o.stride, o.kernel);
  const bool ceil = needs_ceil("max_pool2d", x, y, o.kernel, stride, o.padding, o.dilation);
  r.note("MaxPool", {x}, y,
         {{"kernel_shape", both(o.kernel)},
          {"strides", both(stride)},
          {"pads", pads(o.padding)},
          {"dilations", both(o.dilation)},
          {"ceil_mode", ceil ? 1 : 0}});
}

void avg_pool(Recorder& r, const Tensor& x, const AvgPool2dOptions& o, const Tensor& y) {
  require(o.divisor == 0, "trace", "avg_pool2d with divisor ", o.divisor, " has no form in ONNX");
  const IntPair stride = stride_of(o.stride, o.kernel);
  const bool ceil = needs_ceil("avg_pool2d", x, y, o.kernel, stride, o.padding, 1);
  r.note("AveragePool", {x}, y,
         {{"kernel_shape", both(o.kernel)},
          {"strides", both(stride)},
          {"pads", pads(o.padding)},
          {"ceil_mode", ceil ? 1 : 0},
          {"count_include_pad", o.count_include_pad ? 1 : 0}});
}

void adaptive_avg_pool(Recorder& r, const Tensor& x, const Tensor& y) {
  if (y.size(2) == 1 && y.size(3) == 1) return r.note("GlobalAveragePool", {x}, y);
  if (y.shape() == x.shape()) return r.bind(y, r.of(x));
  // A product from each side with a matrix of means.
  const auto means = [&](int axis, bool turned) {
    const std::int64_t from = x.size(axis), to = y.size(axis);
    std::vector<float> values(static_cast<std::size_t>(from * to));
    for (std::int64_t i = 0; i < to; ++i) {
      const std::int64_t first = i * from / to, end = ((i + 1) * from + to - 1) / to;
      for (std::int64_t k = first; k < end; ++k)
        values[static_cast<std::size_t>(turned ? k * to + i : i * from + k)] = 1 / static_cast<float>(end - first);
    }
    return matrix(r, values, turned ? from : to, turned ? to : from, x.device());
  };
  r.bind(y, r.node("MatMul", {r.node("MatMul", {means(2, false), r.of(x)}), means(3, true)}));
}

}  // namespace crisol::traced
