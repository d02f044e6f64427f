// The functions of torch.nn.functional that take options, with PyTorch's argument names and defaults.
#include "arguments.h"
#include "bindings.h"
#include "nn/same_padding.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using OptionalTensor = std::optional<Tensor>;

template <class Sizes, class Options, Tensor (*function)(const Tensor&, const Tensor&, const Tensor&, const Options&)>
void bind_conv(nb::module_& m, const char* name, const char* text) {
  constexpr int axes = std::is_same_v<Sizes, IntSingle> ? 1 : std::is_same_v<Sizes, IntPair> ? 2 : 3;
  m.def(
      name,
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias, Sizes stride, nb::handle padding,
         Sizes dilation, int groups) {
        Sizes kernel = 1;
        const int rank = weight.dim();
        kernel.w = static_cast<int>(weight.size(rank - 1));
        if constexpr (axes >= 2) kernel.h = static_cast<int>(weight.size(rank - 2));
        if constexpr (axes == 3) kernel.d = static_cast<int>(weight.size(rank - 3));
        const ConvPadding zeros = read_padding(padding, numbers_of(kernel), numbers_of(stride), numbers_of(dilation));
        Sizes before = 0;
        set_numbers(before, zeros.before);
        const Options options{stride, before, dilation, groups};
        std::vector<AxisPadding> more;  // "same" may need one more zero behind an axis than before it.
        for (int i = axes - 1; i >= 0 && !zeros.is_even(); --i)
          more.push_back({0, zeros.after[static_cast<std::size_t>(i)] - zeros.before[static_cast<std::size_t>(i)]});
        return unlocked([&] { return function(more.empty() ? x : pad(x, more), weight, or_undefined(bias), options); });
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1,
      text);
}

template <class Sizes, class Options, Tensor (*function)(const Tensor&, const Tensor&, const Tensor&, const Options&)>
void bind_conv_transpose(nb::module_& m, const char* name, const char* text) {
  m.def(
      name,
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias, Sizes stride, Sizes padding,
         Sizes output_padding, int groups, Sizes dilation) {
        const Options options{stride, padding, output_padding, dilation, groups};
        return function(x, weight, or_undefined(bias), options);
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), "stride"_a = 1, "padding"_a = 0, "output_padding"_a = 0,
      "groups"_a = 1, "dilation"_a = 1, Unlocked(), text);
}

template <class Sizes, class Options, Tensor (*function)(const Tensor&, const Options&),
          ExtremeResult (*both)(const Tensor&, const Options&)>
void bind_max_pool(nb::module_& m, const char* name, const char* text) {
  m.def(
      name,
      [](const Tensor& x, Sizes kernel, std::optional<Sizes> stride, Sizes padding, Sizes dilation, bool ceil_mode,
         bool return_indices) -> std::variant<Tensor, std::pair<Tensor, Tensor>> {
        const Options options{kernel, stride.value_or(0), padding, dilation, ceil_mode};
        if (!return_indices) return function(x, options);
        const ExtremeResult result = both(x, options);
        return std::make_pair(result.values, result.indices);
      },
      "input"_a, "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "dilation"_a = 1, "ceil_mode"_a = false,
      "return_indices"_a = false, Unlocked(), text);
}

template <class Sizes, class Options, Tensor (*function)(const Tensor&, const Options&)>
void bind_avg_pool(nb::module_& m, const char* name, const char* text) {
  m.def(
      name,
      [](const Tensor& x, Sizes kernel, std::optional<Sizes> stride, Sizes padding, bool ceil_mode,
         bool count_include_pad, std::optional<int> divisor) {
        const Options options{kernel, stride.value_or(0), padding, ceil_mode, count_include_pad, divisor.value_or(0)};
        return function(x, options);
      },
      "input"_a, "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "ceil_mode"_a = false,
      "count_include_pad"_a = true, "divisor_override"_a = nb::none(), Unlocked(), text);
}

void bind_pools(nb::module_& m) {
  bind_max_pool<IntPair, MaxPool2dOptions, &max_pool2d, &max_pool2d_with_indices>(
      m, "max_pool2d", "The largest element of each window of input (N, C, H, W). With return_indices also positions.");
  bind_max_pool<IntTriple, MaxPool3dOptions, &max_pool3d, &max_pool3d_with_indices>(
      m, "max_pool3d", "The largest element of each window of input (N, C, D, H, W).");
  bind_avg_pool<IntPair, AvgPool2dOptions, &avg_pool2d>(m, "avg_pool2d",
                                                        "The mean of each window of input (N, C, H, W).");
  bind_avg_pool<IntTriple, AvgPool3dOptions, &avg_pool3d>(m, "avg_pool3d",
                                                          "The mean of each window of input (N, C, D, H, W).");
  m.def(
      "adaptive_avg_pool2d", [](const Tensor& x, IntPair size) { return adaptive_avg_pool2d(x, size); }, "input"_a,
      "output_size"_a, Unlocked(), "The means over output_size windows that divide the images (N, C, H, W).");
  m.def(
      "adaptive_avg_pool3d", [](const Tensor& x, IntTriple size) { return adaptive_avg_pool3d(x, size); }, "input"_a,
      "output_size"_a, Unlocked(), "The means over output_size windows that divide the volumes (N, C, D, H, W).");
}

void bind_convs(nb::module_& m) {
  bind_conv<IntSingle, Conv1dOptions, &conv1d>(
      m, "conv1d", "Cross-correlation: input (N, C, L), weight (K, C / groups, S), bias (K) give (N, K, L').");
  bind_conv_transpose<IntSingle, ConvTranspose1dOptions, &conv_transpose1d>(
      m, "conv_transpose1d", "The gradient of conv1d: input (N, C, L), weight (C, K / groups, S) give (N, K, L').");
  bind_conv<IntPair, Conv2dOptions, &conv2d>(
      m, "conv2d",
      "Cross-correlation: input (N, C, H, W), weight (K, C / groups, R, S), bias (K) give (N, K, H', W').");
  bind_conv<IntTriple, Conv3dOptions, &conv3d>(
      m, "conv3d",
      "Cross-correlation: input (N, C, D, H, W), weight (K, C / groups, Q, R, S) give (N, K, D', H', W').");
  bind_conv_transpose<IntPair, ConvTranspose2dOptions, &conv_transpose2d>(
      m, "conv_transpose2d",
      "The gradient of conv2d: input (N, C, H, W), weight (C, K / groups, R, S) give (N, K, …).");
  bind_conv_transpose<IntTriple, ConvTranspose3dOptions, &conv_transpose3d>(
      m, "conv_transpose3d", "The gradient of conv3d: input (N, C, D, H, W), weight (C, K / groups, Q, R, S).");
}

void bind_layers_as_functions(nb::module_& m) {
  m.def(
      "linear",
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
        if (is_floating(x.dtype()) && weight.dim() != 1) return linear(x, weight, or_undefined(bias));
        const Tensor y = matmul(x, weight.dim() == 1 ? weight : weight.t());
        return bias ? y + *bias : y;
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), Unlocked(),
      "input · weightᵀ + bias: input (…, I), weight (O, I), bias (O) give (…, O).");
  m.def(
      "linear",
      [](const Tensor& x, const QuantizedWeight& weight, const OptionalTensor& bias) {
        return linear(x, weight, or_undefined(bias));
      },
      "input"_a, "weight"_a, "bias"_a = nb::none(), Unlocked(),
      "input · weightᵀ + bias with a weight in 8 or 4 bits. input and bias have gradients.");
  m.def(
      "batch_norm",
      [](const Tensor& x, const OptionalTensor& mean, const OptionalTensor& var, const OptionalTensor& weight,
         const OptionalTensor& bias, bool training, double momentum, double eps) {
        return batch_norm2d(x, or_undefined(weight), or_undefined(bias), or_undefined(mean), or_undefined(var),
                            {training, momentum, eps});
      },
      "input"_a, "running_mean"_a.none(), "running_var"_a.none(), "weight"_a = nb::none(), "bias"_a = nb::none(),
      "training"_a = false, "momentum"_a = 0.1, "eps"_a = 1e-5, Unlocked(),
      "(input - mean) / sqrt(var + eps) · weight + bias for each channel of input (N, C, …).");
  m.def(
      "instance_norm",
      [](const Tensor& x, const OptionalTensor& mean, const OptionalTensor& var, const OptionalTensor& weight,
         const OptionalTensor& bias, bool use_input_stats, double momentum, double eps) {
        return instance_norm(x, or_undefined(weight), or_undefined(bias), or_undefined(mean), or_undefined(var),
                             {use_input_stats, momentum, eps});
      },
      "input"_a, "running_mean"_a = nb::none(), "running_var"_a = nb::none(), "weight"_a = nb::none(),
      "bias"_a = nb::none(), "use_input_stats"_a = true, "momentum"_a = 0.1, "eps"_a = 1e-5, Unlocked(),
      "(input - mean) / sqrt(var + eps) · weight + bias for each channel of each instance of input (N, C, …).");
  m.def(
      "group_norm",
      [](const Tensor& x, std::int64_t groups, const OptionalTensor& weight, const OptionalTensor& bias, double eps) {
        return group_norm(x, groups, or_undefined(weight), or_undefined(bias), eps);
      },
      "input"_a, "num_groups"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5, Unlocked(),
      "(input - mean) / sqrt(var + eps) · weight + bias with the statistics of num_groups groups of the channels of "
      "input (N, C, …).");
  m.def(
      "layer_norm",
      [](const Tensor& x, const Shape& shape, const OptionalTensor& weight, const OptionalTensor& bias, double eps) {
        return layer_norm(x, shape, or_undefined(weight), or_undefined(bias), eps);
      },
      "input"_a, "normalized_shape"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5, Unlocked(),
      "(input - mean) / sqrt(var + eps) · weight + bias over the last axes, which have the sizes normalized_shape.");
  m.def(
      "rms_norm",
      [](const Tensor& x, const Shape& shape, const OptionalTensor& weight, std::optional<double> eps) {
        return rms_norm(x, shape, or_undefined(weight), eps);
      },
      "input"_a, "normalized_shape"_a, "weight"_a = nb::none(), "eps"_a = nb::none(), Unlocked(),
      "input / sqrt(mean(input²) + eps) · weight over the last axes, which have the sizes normalized_shape.");
  m.def(
      "dropout", [](const Tensor& x, double p, bool training) { return dropout(x, p, training); }, "input"_a,
      "p"_a = 0.5, "training"_a = true, Unlocked(),
      "Sets elements to 0 with probability p and divides the others by 1 - p.");
}

Tensor pad_of(const Tensor& x, const std::vector<std::int64_t>& numbers, double value) {
  if (numbers.size() % 2 != 0)
    throw Error(ErrorCode::invalid_argument, "[pad] there are " + std::to_string(numbers.size()) +
                                                 " numbers; each axis needs two, before and after it");
  std::vector<AxisPadding> paddings;
  for (std::size_t i = 0; i < numbers.size(); i += 2) paddings.push_back({numbers[i], numbers[i + 1]});
  return pad(x, paddings, value);
}

void bind_activation_functions(nb::module_& m) {
  m.def("glu", &glu, "input"_a, "dim"_a = -1, Unlocked(),
        "The first half along an axis times the sigmoid of the second half.");
  m.def("hardshrink", &hardshrink, "input"_a, "lambd"_a = 0.5, Unlocked(), "x, and 0 where |x| is at most lambd.");
  m.def("softshrink", &softshrink, "input"_a, "lambd"_a = 0.5, Unlocked(),
        "x moved by lambd towards 0. The result is 0 if |x| is at most lambd.");
  m.def("softsign", &softsign, "input"_a, Unlocked(), "x / (1 + |x|).");
  m.def("tanhshrink", &tanhshrink, "input"_a, Unlocked(), "x - tanh(x).");
}

void bind_multi_head_attention(nb::module_& m) {
  m.def(
      "_multi_head_attention",
      [](const Tensor& query, const Tensor& key, const Tensor& value, const std::vector<OptionalTensor>& weights,
         std::int64_t num_heads, double dropout_p, bool add_zero_attn, bool need_weights, bool average_weights,
         const OptionalTensor& attn_mask, const OptionalTensor& key_padding_mask) -> std::pair<Tensor, OptionalTensor> {
        const auto weight = [&](std::size_t i) { return or_undefined(weights.at(i)); };
        const MultiHeadOptions options{num_heads, dropout_p, add_zero_attn, false, need_weights, average_weights};
        const MultiHeadResult result = multi_head_attention(
            query, key, value,
            {weight(0), weight(1), weight(2), weight(3), weight(4), weight(5), weight(6), weight(7), weight(8)},
            options, {or_undefined(attn_mask), or_undefined(key_padding_mask)});
        return {result.output, result.weights.defined() ? OptionalTensor(result.weights) : std::nullopt};
      },
      "query"_a, "key"_a, "value"_a, "weights"_a, "num_heads"_a, "dropout_p"_a, "add_zero_attn"_a, "need_weights"_a,
      "average_weights"_a, "attn_mask"_a.none(), "key_padding_mask"_a.none(), Unlocked());
}

void bind_other_functions(nb::module_& m) {
  m.def(
      "embedding",
      [](const Tensor& x, const Tensor& weight, std::optional<std::int64_t> padding_idx) {
        return embedding(weight, x, padding_idx);
      },
      "input"_a, "weight"_a, "padding_idx"_a = nb::none(), Unlocked(),
      "Rows of weight (V, D) by indices input (…), as (…, D). Row padding_idx gets no gradient.");
  m.def("one_hot", &one_hot, "tensor"_a, "num_classes"_a = -1, "dtype"_a = DType::i64, Unlocked(),
        "1 at the position of each index and 0 elsewhere: (…) gives (…, num_classes).");
  m.def(
      "softmax", [](const Tensor& x, int dim) { return softmax(x, dim); }, "input"_a, "dim"_a, Unlocked(),
      "exp(x) / sum(exp(x)) along an axis.");
  m.def(
      "log_softmax", [](const Tensor& x, int dim) { return log_softmax(x, dim); }, "input"_a, "dim"_a, Unlocked(),
      "x - log(sum(exp(x))) along an axis.");
  m.def(
      "scaled_dot_product_attention",
      [](const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask, double dropout_p,
         bool is_causal, std::optional<double> scale, bool enable_gqa) {
        return scaled_dot_product_attention(query, key, value, or_undefined(mask),
                                            {is_causal, scale, enable_gqa, dropout_p});
      },
      "query"_a, "key"_a, "value"_a, "attn_mask"_a = nb::none(), "dropout_p"_a = 0.0, "is_causal"_a = false,
      nb::kw_only(), "scale"_a = nb::none(), "enable_gqa"_a = false, Unlocked(),
      "softmax(scale · query · keyᵀ + attn_mask) · value: query (…, L, E), key (…, S, E), value (…, S, V) give "
      "(…, L, V).");
  m.def("pad", &pad_of, "input"_a, "pad"_a, "value"_a = 0.0, Unlocked(),
        "Adds elements of one value at the ends of axes. pad holds two numbers for each axis, the last axis first.");
}

}  // namespace

void bind_functional(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_functional", "Functions with PyTorch's arguments.");
  bind_convs(m);
  bind_pools(m);
  bind_losses(m);
  bind_layers_as_functions(m);
  bind_activation_functions(m);
  bind_multi_head_attention(m);
  bind_other_functions(m);
  bind_vision(m);
  bind_sampling(m);
}

}  // namespace crisol::python
