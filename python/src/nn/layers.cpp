// Layers with PyTorch's names and constructor arguments: linear, convolution, pooling, activations.
#include "arguments.h"
#include "nn/module.h"
#include "nn/same_padding.h"

namespace crisol::python {

namespace {

/// The form that PyTorch's pooling layers use: one number if all are equal.
nb::object short_form(IntPair pair) { return pair.h == pair.w ? nb::cast(pair.w) : nb::cast(pair); }
nb::object short_form(IntTriple triple) {
  return triple == IntTriple(triple.w) ? nb::cast(triple.w) : nb::cast(triple);
}

/// The sizes of a convolution's window, as a tuple.
nb::tuple window_of(const Tensor& weight) {
  nb::list sizes;
  for (int i = 2; i < weight.dim(); ++i) sizes.append(weight.size(i));
  return nb::tuple(sizes);
}

template <class L, class Class>
void bind_weight_and_bias(Class& layer, const char* shape_of_weight) {
  bind_parameter<&L::weight>(layer, "weight", shape_of_weight);
  bind_parameter<&L::bias>(layer, "bias", "One element for each output channel or feature, or None.");
}

void bind_linear(nb::module_& m) {
  auto linear =
      bind_layer<nn::Linear>(m, "Linear", "y = x · weightᵀ + bias. x is (…, in_features), y (…, out_features).");
  linear.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Linear> self, std::int64_t in_features, std::int64_t out_features, Truth bias,
         nb::handle, nb::handle) { construct(self, in_features, out_features, nn::LinearOptions{bias}); },
      "in_features"_a, "out_features"_a, "bias"_a.none() = true, "device"_a = nb::none(), "dtype"_a = nb::none(),
      kept_and_moved<3>);
  linear.def("_made_with", [](const nn::Linear& self) {
    return nb::make_tuple(self.in_features(), self.out_features(), self.bias.defined());
  });
  bind_weight_and_bias<nn::Linear>(linear, "(out_features, in_features)");
  auto embedding = bind_layer<nn::Embedding>(
      m, "Embedding", "One row of weight for each index: x (…) of whole numbers gives y (…, embedding_dim).");
  embedding.def(
      "__init__",
      [](nb::pointer_and_handle<nn::Embedding> self, std::int64_t count, std::int64_t size,
         std::optional<std::int64_t> padding, std::optional<double> max_norm, double norm_type, bool by_frequency, bool,
         const std::optional<Tensor>& weight, bool freeze, nb::handle, nb::handle) {
        if (max_norm || by_frequency)
          make_special(self.h, "max_norm"_a = max_norm, "norm_type"_a = norm_type,
                       "scale_grad_by_freq"_a = by_frequency);
        construct(self, count, size, nn::EmbeddingOptions{padding});
        if (weight) self.p->weight = nn::Parameter(weight->detach(), !freeze);
      },
      "num_embeddings"_a, "embedding_dim"_a, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(),
      "norm_type"_a = 2.0, "scale_grad_by_freq"_a = false, "sparse"_a = false, "_weight"_a = nb::none(),
      "_freeze"_a = false, "device"_a = nb::none(), "dtype"_a = nb::none(), kept_and_moved<9>);
  embedding.def("_made_with", [](const nn::Embedding& self) {
    return nb::make_tuple(self.weight.size(0), self.weight.size(1), self.padding_idx(), nb::none(), 2.0, false, false,
                          nb::none(), false);
  });
  embedding.def_static(
      "from_pretrained",
      [](const Tensor& table, bool freeze, nb::handle padding_idx, nb::handle max_norm, double norm_type,
         bool by_frequency, bool sparse) {
        const nb::object layer = nb::type<nn::Embedding>()(table.size(0), table.size(1), padding_idx, max_norm,
                                                           norm_type, by_frequency, sparse);
        nb::cast<nn::Embedding&>(layer).weight = nn::Parameter(table.detach(), !freeze);
        return layer;
      },
      "embeddings"_a, "freeze"_a = true, "padding_idx"_a = nb::none(), "max_norm"_a = nb::none(), "norm_type"_a = 2.0,
      "scale_grad_by_freq"_a = false, "sparse"_a = false,
      nb::sig("def from_pretrained(embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, max_norm: "
              "float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> "
              "Embedding"),
      "A layer with this table as its weight. `freeze` makes a weight without a gradient.");
  bind_parameter<&nn::Embedding::weight>(embedding, "weight", "(num_embeddings, embedding_dim)");
}

template <class L, class Sizes, class Options>
void bind_conv(nb::module_& m, const char* name, const char* text) {
  auto layer = bind_layer<L>(m, name, text);
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<L> self, std::int64_t in_channels, std::int64_t out_channels, Sizes kernel,
         Sizes stride, nb::handle padding, Sizes dilation, int groups, Truth bias, const std::string& mode, nb::handle,
         nb::handle) {
        const ConvPadding read = read_padding(padding, numbers_of(kernel), numbers_of(stride), numbers_of(dilation));
        Sizes zeros = 0;
        if (mode == "zeros" && read.is_even())
          set_numbers(zeros, read.before);
        else
          make_special(self.h, "padding_mode"_a = mode,
                       "padding"_a = nb::isinstance<nb::str>(padding) ? nb::borrow(padding) : nb::cast(read.before),
                       "_before"_a = read.before, "_after"_a = read.after);
        construct(self, in_channels, out_channels, kernel, Options{stride, zeros, dilation, groups, bias});
      },
      "in_channels"_a, "out_channels"_a, "kernel_size"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
      "groups"_a = 1, "bias"_a.none() = true, "padding_mode"_a = "zeros", "device"_a = nb::none(),
      "dtype"_a = nb::none(), kept_and_moved<9>);
  layer.def("_made_with", [](const L& self) {
    const Options& o = self.options();
    return nb::make_tuple(self.in_channels(), self.out_channels(), window_of(self.weight), Sizes(o.stride),
                          Sizes(o.padding), Sizes(o.dilation), o.groups, self.bias.defined(), "zeros");
  });
  bind_weight_and_bias<L>(layer, "(out_channels, in_channels / groups, *kernel_size)");
}

template <class L, class Sizes, class Options>
void bind_conv_transpose(nb::module_& m, const char* name, const char* text) {
  auto layer = bind_layer<L>(m, name, text);
  layer.def(
      "__init__",
      [](nb::pointer_and_handle<L> self, std::int64_t in_channels, std::int64_t out_channels, Sizes kernel,
         Sizes stride, Sizes padding, Sizes output_padding, int groups, Truth bias, Sizes dilation,
         const std::string& mode, nb::handle, nb::handle) {
        if (mode != "zeros") throw nb::value_error("a transposed convolution has only the padding_mode 'zeros'");
        construct(self, in_channels, out_channels, kernel,
                  Options{stride, padding, output_padding, dilation, groups, bias});
      },
      "in_channels"_a, "out_channels"_a, "kernel_size"_a, "stride"_a = 1, "padding"_a = 0, "output_padding"_a = 0,
      "groups"_a = 1, "bias"_a.none() = true, "dilation"_a = 1, "padding_mode"_a = "zeros", "device"_a = nb::none(),
      "dtype"_a = nb::none(), kept_and_moved<10>);
  layer.def(
      "forward",
      [](L& self, const Tensor& x, const std::optional<Shape>& size) {
        return size ? self.L::forward(x, *size) : self.L::forward(x);
      },
      "input"_a, "output_size"_a = nb::none(), Unlocked(),
      "The output for one input. With a stride above 1, output_size chooses one of the sizes that it may have.");
  layer.def("_made_with", [](const L& self) {
    const Options& o = self.options();
    return nb::make_tuple(self.in_channels(), self.out_channels(), window_of(self.weight), Sizes(o.stride),
                          Sizes(o.padding), Sizes(o.output_padding), o.groups, self.bias.defined(), Sizes(o.dilation),
                          "zeros");
  });
  bind_weight_and_bias<L>(layer, "(in_channels, out_channels / groups, *kernel_size)");
}

template <class L, class Sizes, class Options>
void bind_max_pool(nb::module_& m, const char* name, const char* text) {
  bind_layer<L>(m, name, text)
      .def(
          "__init__",
          [](nb::pointer_and_handle<L> self, Sizes kernel, std::optional<Sizes> stride, Sizes padding, Sizes dilation,
             bool return_indices, bool ceil_mode) {
            if (return_indices) make_special(self.h, "return_indices"_a = true);
            construct(self, kernel, Options{kernel, stride.value_or(0), padding, dilation, ceil_mode});
          },
          "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "dilation"_a = 1, "return_indices"_a = false,
          "ceil_mode"_a = false, kept_arguments)
      .def("_made_with", [](const L& self) {
        const Options& o = self.options();
        return nb::make_tuple(short_form(o.kernel), short_form(o.stride == Sizes(0) ? o.kernel : o.stride),
                              short_form(o.padding), short_form(o.dilation), false, o.ceil_mode);
      });
}

template <class L, class Sizes, class Options>
void bind_avg_pool(nb::module_& m, const char* name, const char* text) {
  bind_layer<L>(m, name, text)
      .def(
          "__init__",
          [](nb::pointer_and_handle<L> self, Sizes kernel, std::optional<Sizes> stride, Sizes padding, bool ceil_mode,
             bool count_include_pad, std::optional<int> divisor) {
            construct(self, kernel,
                      Options{kernel, stride.value_or(0), padding, ceil_mode, count_include_pad, divisor.value_or(0)});
          },
          "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = 0, "ceil_mode"_a = false,
          "count_include_pad"_a = true, "divisor_override"_a = nb::none(), kept_arguments)
      .def("_made_with", [](const L& self) {
        const Options& o = self.options();
        return nb::make_tuple(short_form(o.kernel), short_form(o.stride == Sizes(0) ? o.kernel : o.stride),
                              short_form(o.padding), o.ceil_mode, o.count_include_pad,
                              o.divisor == 0 ? std::optional<int>() : o.divisor);
      });
}

template <class L, class Sizes>
void bind_adaptive_pool(nb::module_& m, const char* name, const char* text) {
  bind_layer<L>(m, name, text)
      .def(
          "__init__",
          [](nb::pointer_and_handle<L> self, nb::handle output) {
            Sizes sizes = 1;
            // None keeps the size of an axis.
            if (!nb::try_cast(output, sizes)) make_special(self.h, "output_size"_a = output);
            construct(self, sizes);
          },
          "output_size"_a.none(), kept_arguments)
      .def("_made_with", [](const L& self) { return nb::make_tuple(self.output()); });
}

/// An activation without settings. It accepts PyTorch's argument inplace, but always returns a new tensor.
template <class L>
void bind_activation(nb::module_& m, const char* name) {
  bind_layer<L>(m, name, "The function of the same name, element by element. `inplace` changes nothing.")
      .def(
          "__init__", [](nb::pointer_and_handle<L> self, bool) { construct(self); }, "inplace"_a = false,
          kept_arguments)
      .def("_made_with", [](const L&) { return nb::make_tuple(false); });
}

template <class L>
void bind_activation_of(nb::module_& m, const char* name, const char* parameter, double initial) {
  bind_layer<L>(m, name, "The function of the same name, element by element. `inplace` changes nothing.")
      .def(
          "__init__", [](nb::pointer_and_handle<L> self, double value, bool) { construct(self, value); },
          nb::arg(parameter) = initial, "inplace"_a = false, kept_arguments)
      .def("_made_with", [](const L& self) {
        if constexpr (std::is_same_v<L, nn::Dropout>)
          return nb::make_tuple(self.p(), false);
        else
          return nb::make_tuple(self.parameter(), false);
      });
}

template <class L>
void bind_over_axis(nb::module_& m, const char* name, const char* text) {
  bind_layer<L>(m, name, text)
      .def(
          "__init__",
          [](nb::pointer_and_handle<L> self, std::optional<int> dim) {
            if (!dim) make_special(self.h, "dim"_a = nb::none());
            construct(self, dim.value_or(0));
          },
          "dim"_a = nb::none(), kept_arguments)
      .def("_made_with", [](const L& self) { return nb::make_tuple(self.axis()); });
}

void bind_activations(nb::module_& m) {
  bind_layer<nn::Identity>(m, "Identity", "The input itself. As in PyTorch, arguments have no meaning.")
      .def("__init__",
           [](nb::pointer_and_handle<nn::Identity> self, const nb::args&, const nb::kwargs&) {
             construct(self);
             keep_arguments(self.h, nullptr, 0);
           })
      .def("_made_with", [](const nn::Identity&) { return nb::make_tuple(); });
  bind_activation<nn::ReLU>(m, "ReLU");
  bind_activation<nn::Sigmoid>(m, "Sigmoid");
  bind_activation<nn::Tanh>(m, "Tanh");
  bind_activation<nn::SiLU>(m, "SiLU");
  bind_activation<nn::Mish>(m, "Mish");
  bind_activation<nn::SELU>(m, "SELU");
  bind_activation<nn::LogSigmoid>(m, "LogSigmoid");
  bind_activation<nn::ReLU6>(m, "ReLU6");
  bind_activation<nn::Hardsigmoid>(m, "Hardsigmoid");
  bind_activation<nn::Hardswish>(m, "Hardswish");
  bind_activation_of<nn::LeakyReLU>(m, "LeakyReLU", "negative_slope", 0.01);
  bind_activation_of<nn::ELU>(m, "ELU", "alpha", 1);
  bind_activation_of<nn::CELU>(m, "CELU", "alpha", 1);
  bind_activation_of<nn::Dropout>(m, "Dropout", "p", 0.5);
  bind_layer<nn::Softplus>(m, "Softplus", "log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Softplus> self, double beta, double threshold) {
            construct(self, beta, threshold);
          },
          "beta"_a = 1.0, "threshold"_a = 20.0, kept_arguments)
      .def("_made_with", [](const nn::Softplus& self) { return nb::make_tuple(self.beta(), self.threshold()); });
  bind_layer<nn::GELU>(m, "GELU", "The function of the same name. `approximate` is \"none\" or \"tanh\".")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::GELU> self, const std::string& approximate) {
            if (approximate != "none") make_special(self.h, "approximate"_a = approximate);
            construct(self);
          },
          "approximate"_a = "none", kept_arguments)
      .def("_made_with", [](const nn::GELU&) { return nb::make_tuple("none"); });
  bind_over_axis<nn::Softmax>(m, "Softmax", "exp(x) / sum(exp(x)) along an axis.");
  bind_over_axis<nn::LogSoftmax>(m, "LogSoftmax", "x - log(sum(exp(x))) along an axis.");
  bind_layer<nn::Flatten>(m, "Flatten", "Merges the axes start_dim to end_dim into one axis.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Flatten> self, int first, int last) { construct(self, first, last); },
          "start_dim"_a = 1, "end_dim"_a = -1, kept_arguments)
      .def("_made_with", [](const nn::Flatten& self) { return nb::make_tuple(self.first(), self.last()); });
}

}  // namespace

void bind_layers(nb::module_& m) {
  bind_linear(m);
  bind_conv<nn::Conv1d, IntSingle, Conv1dOptions>(
      m, "Conv1d", "Cross-correlation of sequences: x (N, in_channels, L) gives y (N, out_channels, L').");
  bind_conv_transpose<nn::ConvTranspose1d, IntSingle, ConvTranspose1dOptions>(
      m, "ConvTranspose1d", "The gradient of Conv1d: x (N, in_channels, L) gives y (N, out_channels, L').");
  bind_conv<nn::Conv2d, IntPair, Conv2dOptions>(
      m, "Conv2d", "Cross-correlation of images: x (N, in_channels, H, W) gives y (N, out_channels, H', W').");
  bind_conv<nn::Conv3d, IntTriple, Conv3dOptions>(
      m, "Conv3d", "Cross-correlation of volumes: x (N, in_channels, D, H, W) gives y (N, out_channels, D', H', W').");
  bind_conv_transpose<nn::ConvTranspose2d, IntPair, ConvTranspose2dOptions>(
      m, "ConvTranspose2d", "The gradient of Conv2d: x (N, in_channels, H, W) gives y (N, out_channels, H', W').");
  bind_conv_transpose<nn::ConvTranspose3d, IntTriple, ConvTranspose3dOptions>(
      m, "ConvTranspose3d", "The gradient of Conv3d: x (N, in_channels, D, H, W) gives (N, out_channels, D', H', W').");
  bind_max_pool<nn::MaxPool2d, IntPair, MaxPool2dOptions>(
      m, "MaxPool2d", "The largest element of each window of x (N, C, H, W). The stride is kernel_size if None.");
  bind_max_pool<nn::MaxPool3d, IntTriple, MaxPool3dOptions>(
      m, "MaxPool3d", "The largest element of each window of x (N, C, D, H, W). The stride is kernel_size if None.");
  bind_avg_pool<nn::AvgPool2d, IntPair, AvgPool2dOptions>(
      m, "AvgPool2d", "The mean of each window of x (N, C, H, W). The stride is kernel_size if None.");
  bind_avg_pool<nn::AvgPool3d, IntTriple, AvgPool3dOptions>(
      m, "AvgPool3d", "The mean of each window of x (N, C, D, H, W). The stride is kernel_size if None.");
  bind_adaptive_pool<nn::AdaptiveAvgPool2d, IntPair>(
      m, "AdaptiveAvgPool2d", "Means over output_size windows that divide the images x (N, C, H, W).");
  bind_adaptive_pool<nn::AdaptiveAvgPool3d, IntTriple>(
      m, "AdaptiveAvgPool3d", "Means over output_size windows that divide the volumes x (N, C, D, H, W).");
  bind_activations(m);
}

}  // namespace crisol::python
