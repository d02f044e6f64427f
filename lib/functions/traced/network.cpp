// The nodes of convolutions, products, normalisations and pools.
#include "functions/traced/traced.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers(int number) { return {number}; }
Numbers numbers(IntPair pair) { return {pair.h, pair.w}; }
Numbers numbers(IntTriple triple) { return {triple.d, triple.h, triple.w}; }

/// The same padding at both ends of all axes.
template <class Extent>
Numbers at_both_ends(Extent padding) {
  const Numbers begins = numbers(padding);
  Numbers both = begins;
  both.insert(both.end(), begins.begin(), begins.end());
  return both;
}

Value filled(Trace& trace, const Shape& shape, double value, Device device) {
  Tensor made;
  {
    const PauseTrace pause;
    made = full(shape, value, DType::f32, device);
  }
  return trace.of(made);
}

/// The stride of a pool. A stride of 0 means the size of the kernel.
template <class Extent>
Extent stride_of(Extent stride, Extent kernel) {
  return stride == Extent(0) ? kernel : stride;
}

template <class Options>
void pool(Trace& trace, Op op, const Tensor& x, const Options& o, const Tensor& y) {
  Trace::Attributes attributes{{"kernel", numbers(o.kernel)},
                               {"stride", numbers(stride_of(o.stride, o.kernel))},
                               {"padding", at_both_ends(o.padding)},
                               {"ceil_mode", o.ceil_mode ? 1 : 0}};
  if constexpr (requires { o.dilation; }) attributes.emplace("dilation", numbers(o.dilation));
  if constexpr (requires { o.divisor; }) {
    attributes.emplace("count_include_pad", o.count_include_pad ? 1 : 0);
    attributes.emplace("divisor", o.divisor);
  }
  trace.note(op, {x}, y, std::move(attributes));
}

}  // namespace

template <class Options>
void conv(Trace& trace, const Tensor& x, const Tensor& weight, const Tensor& bias, const Options& options,
          const Tensor& y) {
  std::vector<Value> inputs{trace.of(x), trace.of(weight)};
  if (bias.defined()) inputs.push_back(trace.of(bias));
  Trace::Attributes attributes{{"stride", numbers(options.stride)},
                               {"padding", at_both_ends(options.padding)},
                               {"dilation", numbers(options.dilation)},
                               {"groups", options.groups}};
  constexpr bool transposed = requires { options.output_padding; };
  if constexpr (transposed) attributes.emplace("output_padding", numbers(options.output_padding));
  trace.bind(y, trace.node(transposed ? Op::conv_transpose : Op::conv, inputs, attributes));
}

template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const Conv1dOptions&, const Tensor&);
template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const Conv2dOptions&, const Tensor&);
template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const Conv3dOptions&, const Tensor&);
template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const ConvTranspose1dOptions&, const Tensor&);
template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const ConvTranspose2dOptions&, const Tensor&);
template void conv(Trace&, const Tensor&, const Tensor&, const Tensor&, const ConvTranspose3dOptions&, const Tensor&);

void linear(Trace& trace, const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& y) {
  std::vector<Value> inputs{trace.of(x), trace.of(weight)};
  if (bias.defined()) inputs.push_back(trace.of(bias));
  trace.bind(y, trace.node(Op::linear, inputs));
}

void batch_norm(Trace& trace, const Tensor& x, const std::vector<Tensor>& of_channels, double epsilon,
                const Tensor& y) {
  std::vector<Value> inputs{trace.of(x)};
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor& given = of_channels[i];
    inputs.push_back(given.defined() ? trace.of(given) : filled(trace, {x.size(1)}, i == 0 ? 1 : 0, x.device()));
  }
  trace.bind(y, trace.node(Op::batch_norm, inputs, {{"epsilon", epsilon}}));
}

void layer_norm(Trace& trace, const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                double epsilon, const Tensor& y) {
  std::vector<Value> inputs{trace.of(x),
                            weight.defined() ? trace.of(weight) : filled(trace, normalized_shape, 1, x.device())};
  if (bias.defined()) inputs.push_back(trace.of(bias));
  trace.bind(y, trace.node(Op::layer_norm, inputs, {{"axis", -normalized_shape.rank()}, {"epsilon", epsilon}}));
}

void norm_of_channels(Trace& trace, Op op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Trace::Attributes& attributes, const Tensor& y) {
  const auto given_or = [&](const Tensor& given, double value) {
    return given.defined() ? trace.of(given) : filled(trace, {x.size(1)}, value, x.device());
  };
  trace.bind(y, trace.node(op, {trace.of(x), given_or(weight, 1), given_or(bias, 0)}, attributes));
}

void max_pool(Trace& trace, const Tensor& x, const MaxPool2dOptions& o, const Tensor& y) {
  pool(trace, Op::max_pool, x, o, y);
}
void max_pool(Trace& trace, const Tensor& x, const MaxPool3dOptions& o, const Tensor& y) {
  pool(trace, Op::max_pool, x, o, y);
}
void avg_pool(Trace& trace, const Tensor& x, const AvgPool2dOptions& o, const Tensor& y) {
  pool(trace, Op::avg_pool, x, o, y);
}
void avg_pool(Trace& trace, const Tensor& x, const AvgPool3dOptions& o, const Tensor& y) {
  pool(trace, Op::avg_pool, x, o, y);
}

void adaptive_avg_pool(Trace& trace, const Tensor& x, const Tensor& y) {
  if (y.size(2) == 1 && y.size(3) == 1) return trace.note(Op::global_avg_pool, {x}, y);
  if (y.shape() == x.shape()) return trace.bind(y, trace.of(x));
  trace.note(Op::adaptive_avg_pool, {x}, y, {{"size", Numbers{y.size(2), y.size(3)}}});
}

}  // namespace crisol::traced
