// Layers of networks.
#include "graph/ops/layers.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/rnn.h"
#include "crisol/functions/softmax.h"
#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"
#include "graph/ops/runs.h"
#include "graph/passes/attributes.h"
#include "tensor/set_option.h"

namespace crisol::graph {

namespace {

using Numbers = std::vector<std::int64_t>;

const Numbers& numbers_of(const Node& node, const char* name) { return std::get<Numbers>(node.attributes.at(name)); }
double real_of(const Node& node, const char* name) { return std::get<double>(node.attributes.at(name)); }
bool is_set(const Node& node, const char* name) { return integer_of(node, name, 0) != 0; }

/// The options of a convolution or of a pool.
template <class Options>
Options options_of(const Node& node) {
  Options o;
  set_option(o.stride, numbers_of(node, "stride"));
  set_option(o.padding, numbers_of(node, "padding"));
  if constexpr (requires { o.dilation; }) set_option(o.dilation, numbers_of(node, "dilation"));
  if constexpr (requires { o.groups; }) o.groups = static_cast<int>(integer_of(node, "groups", 1));
  if constexpr (requires { o.output_padding; }) set_option(o.output_padding, numbers_of(node, "output_padding"));
  if constexpr (requires { o.kernel; }) set_option(o.kernel, numbers_of(node, "kernel"));
  if constexpr (requires { o.ceil_mode; }) o.ceil_mode = is_set(node, "ceil_mode");
  if constexpr (requires { o.divisor; }) o.divisor = static_cast<int>(integer_of(node, "divisor", 0));
  if constexpr (requires { o.count_include_pad; }) o.count_include_pad = is_set(node, "count_include_pad");
  return o;
}

Tensor bias_in(const std::vector<Tensor>& in) { return in.size() > 2 ? in[2] : Tensor(); }

Run conv(const Node& node) {
  const std::size_t axes = numbers_of(node, "stride").size();
  if (axes == 3)
    return run_of_all([o = options_of<Conv3dOptions>(node)](const std::vector<Tensor>& in) {
      return conv3d(in[0], in[1], bias_in(in), o);
    });
  const auto run_with = [](auto o, auto f, auto f_with_epilogue) {
    return with_epilogue([=](const Data& data, Device device, const Epilogue* epilogue) {
      const std::vector<Tensor> in = tensors_of(data, device);
      return epilogue == nullptr ? f(in[0], in[1], bias_in(in), o)
                                 : f_with_epilogue(in[0], in[1], bias_in(in), o, *epilogue);
    });
  };
  const auto one = [](const auto&... args) { return conv1d(args...); };
  const auto two = [](const auto&... args) { return conv2d(args...); };
  return axes == 1 ? run_with(options_of<Conv1dOptions>(node), one, one)
                   : run_with(options_of<Conv2dOptions>(node), two, two);
}

Run conv_transpose(const Node& node) {
  const auto run_with = [](auto o, auto f) {
    return run_of_all([=](const std::vector<Tensor>& in) { return f(in[0], in[1], bias_in(in), o); });
  };
  switch (numbers_of(node, "stride").size()) {
    case 1: return run_with(options_of<ConvTranspose1dOptions>(node), conv_transpose1d);
    case 2: return run_with(options_of<ConvTranspose2dOptions>(node), conv_transpose2d);
    default: return run_with(options_of<ConvTranspose3dOptions>(node), conv_transpose3d);
  }
}

/// linear() keeps a packed copy of a right factor that does not change from run to run.
Run product(const Node&) {
  return with_epilogue([](const Data& data, Device device, const Epilogue* epilogue) {
    const std::vector<Tensor> in = tensors_of(data, device);
    const bool is_linear = in[0].dtype() == DType::f32 && in[1].dim() == 2;
    if (epilogue == nullptr) return is_linear ? linear(in[0], in[1].t()) : matmul(in[0], in[1]);
    return is_linear ? linear(in[0], in[1].t(), Tensor(), *epilogue) : matmul(in[0], in[1], *epilogue);
  });
}

Run linear_(const Node&) {
  return with_epilogue([](const Data& data, Device device, const Epilogue* epilogue) {
    const std::vector<Tensor> in = tensors_of(data, device);
    return epilogue == nullptr ? linear(in[0], in[1], bias_in(in)) : linear(in[0], in[1], bias_in(in), *epilogue);
  });
}

Run batch_norm(const Node& node) {
  const BatchNormOptions options{.training = false, .epsilon = real_of(node, "epsilon")};
  return run_of_all(
      [options](const std::vector<Tensor>& in) { return batch_norm2d(in[0], in[1], in[2], in[3], in[4], options); });
}

Run layer_norm_(const Node& node) {
  return run_of_all([epsilon = real_of(node, "epsilon")](const std::vector<Tensor>& in) {
    return layer_norm(in[0], in[1].shape(), in[1], bias_in(in), epsilon);
  });
}

Run instance_norm_(const Node& node) {
  const BatchNormOptions options{.epsilon = real_of(node, "epsilon")};
  return run_of_all([options](const std::vector<Tensor>& in) {
    return instance_norm(in[0], in[1], in[2], Tensor(), Tensor(), options);
  });
}

Run group_norm_(const Node& node) {
  return run_of_all([epsilon = real_of(node, "epsilon"), groups = integer_of(node, "groups", 1)](
                        const std::vector<Tensor>& in) { return group_norm(in[0], groups, in[1], in[2], epsilon); });
}

template <class Of2, class Of3, class F2, class F3>
Run pool(const Node& node, F2 f2, F3 f3) {
  if (numbers_of(node, "stride").size() == 3)
    return run_of_one([=, o = options_of<Of3>(node)](const Tensor& x) { return f3(x, o); });
  return run_of_one([=, o = options_of<Of2>(node)](const Tensor& x) { return f2(x, o); });
}

Run max_pool(const Node& node) { return pool<MaxPool2dOptions, MaxPool3dOptions>(node, max_pool2d, max_pool3d); }
Run avg_pool(const Node& node) { return pool<AvgPool2dOptions, AvgPool3dOptions>(node, avg_pool2d, avg_pool3d); }
Run adaptive_avg_pool(const Node& node) {
  IntPair size = 1;
  if (node.op == Op::adaptive_avg_pool) set_option(size, numbers_of(node, "size"));
  return run_of_one([size](const Tensor& x) { return adaptive_avg_pool2d(x, size); });
}

template <Tensor (*f)(const Tensor&, int)>
Run along_axis(const Node& node) {
  return run_of_one([axis = static_cast<int>(integer_of(node, "axis", -1))](const Tensor& x) { return f(x, axis); });
}

Run attention(const Node& node) {
  const AttentionOptions options{.is_causal = is_set(node, "is_causal"),
                                 .scale = real_of(node, "scale"),
                                 .enable_gqa = is_set(node, "enable_gqa")};
  return run_of_all([options](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], in[3], options);
  });
}

Run rnn_(const Node& node) {
  const RnnOptions options{static_cast<RnnCell>(integer_of(node, "cell", 0)), is_set(node, "reverse")};
  return [options](const Data& data, Device device) {
    const std::vector<Tensor> in = tensors_of(data, device);
    const RnnOutput y = rnn({in[0], in[6], in[7], in[8]}, {in[1], in[2], in[3], in[4], in[5]}, options);
    return Data{y.y, y.h_n, y.c_n};
  };
}

Run interpolate_(const Node& node) {
  return run_of_one([options = interpolation_of(node)](const Tensor& x) { return interpolate(x, options); });
}

Run resample(const Node& node) {
  return run_of_one([weights = axis_weights_of(node), axis = static_cast<int>(integer_of(node, "axis", 0))](
                        const Tensor& x) { return ops::resample(x, axis, weights); });
}

Run enlarge(const Node& node) {
  return run_of_one([down = integer_of(node, "down", 1), across = integer_of(node, "across", 1)](const Tensor& x) {
    return ops::enlarge(x, down, across);
  });
}

Run grid_sample_(const Node& node) {
  const GridSampleOptions options{.mode = static_cast<GridSampleMode>(integer_of(node, "mode", 0)),
                                  .padding_mode = static_cast<GridSamplePadding>(integer_of(node, "padding_mode", 0)),
                                  .align_corners = is_set(node, "align_corners"),
                                  .in_elements = is_set(node, "in_elements")};
  return run_of_all([options](const std::vector<Tensor>& in) { return grid_sample(in[0], in[1], options); });
}

}  // namespace

InterpolateOptions interpolation_of(const Node& node) {
  return {.size = Shape(numbers_of(node, "size")),
          .scale_factor = std::get<std::vector<double>>(node.attributes.at("scale_factor")),
          .mode = static_cast<InterpolateMode>(integer_of(node, "mode", 0)),
          .align_corners = is_set(node, "align_corners"),
          .antialias = is_set(node, "antialias")};
}

ops::AxisWeights axis_weights_of(const Node& node) {
  const auto narrowed = [](const Numbers& from) { return std::vector<std::int32_t>(from.begin(), from.end()); };
  return {.size = integer_of(node, "size", 0),
          .starts = narrowed(numbers_of(node, "starts")),
          .indices = narrowed(numbers_of(node, "indices")),
          .weights = std::get<std::vector<double>>(node.attributes.at("weights"))};
}

const Runs& runs_of_layers() {
  static const Runs runs{
      {Op::adaptive_avg_pool, adaptive_avg_pool},
      {Op::attention, attention},
      {Op::avg_pool, avg_pool},
      {Op::batch_norm, batch_norm},
      {Op::conv, conv},
      {Op::conv_transpose, conv_transpose},
      {Op::enlarge, enlarge},
      {Op::global_avg_pool, adaptive_avg_pool},
      {Op::grid_sample, grid_sample_},
      {Op::group_norm, group_norm_},
      {Op::instance_norm, instance_norm_},
      {Op::interpolate, interpolate_},
      {Op::layer_norm, layer_norm_},
      {Op::linear, linear_},
      {Op::log_softmax, along_axis<log_softmax>},
      {Op::matmul, product},
      {Op::max_pool, max_pool},
      {Op::resample, resample},
      {Op::rnn, rnn_},
      {Op::softmax, along_axis<softmax>},
  };
  return runs;
}

}  // namespace crisol::graph
