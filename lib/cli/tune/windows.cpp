// Poolings.
#include "cli/tune/replay.h"
#include "crisol/ops/pool.h"

namespace crisol::cli::tune {

namespace {

Shape planes_of(const Problem& p) { return {1, p["planes"], p["h"], p["w"]}; }
Shape outputs_of(const Problem& p) { return {1, p["planes"], p["out_h"], p["out_w"]}; }

/// Options by which the planes give the outputs, rounding up or down.
template <class Options>
Options with_window(const Problem& p, Options options) {
  options.kernel = {p.small("r"), p.small("s")};
  options.stride = {p.small("stride_h"), p.small("stride_w")};
  options.padding = {p.small("pad_h"), p.small("pad_w")};
  const auto covered = [&](const char* size, const char* out, int stride, int padding, int reach) {
    return (p[out] - 1) * stride + reach <= p[size] + 2 * padding;
  };
  options.ceil_mode =
      !covered("h", "out_h", options.stride.h, options.padding.h, p.small("dil_h") * (options.kernel.h - 1) + 1) ||
      !covered("w", "out_w", options.stride.w, options.padding.w, p.small("dil_w") * (options.kernel.w - 1) + 1);
  return options;
}

MaxPool2dOptions max_options(const Problem& p) {
  MaxPool2dOptions options{1};
  options.dilation = {p.small("dil_h"), p.small("dil_w")};
  return with_window(p, options);
}

Tensor images(std::uint64_t seed, const Shape& shape) { return tensor_of(values_for(seed, shape.numel()), shape); }

// Maxima are exact.
std::optional<Replay> make_max(const Problem& p) {
  const Tensor x = images(1, planes_of(p));
  return Replay{.run =
                    [x, options = max_options(p)] {
                      const ops::MaxPool2dResult result = ops::max_pool2d(x, options);
                      return std::vector<Tensor>{result.values, result.indices};
                    },
                .tolerance = within(0)};
}

std::optional<Replay> make_max_backward(const Problem& p) {
  const MaxPool2dOptions options = max_options(p);
  const Tensor indices = ops::max_pool2d(images(1, planes_of(p)), options).indices, dy = images(2, outputs_of(p));
  if (indices.shape() != dy.shape()) return std::nullopt;
  return Replay{.run =
                    [=, shape = planes_of(p)] {
                      return std::vector<Tensor>{ops::max_pool2d_backward(dy, indices, shape, options)};
                    },
                .tolerance = within(4)};
}

std::optional<Replay> make_avg(const Problem& p) {
  const Tensor x = images(1, planes_of(p));
  return Replay{.run = [x, options = with_window(
                               p, AvgPool2dOptions{1})] { return std::vector<Tensor>{ops::avg_pool2d(x, options)}; },
                .tolerance = within(10, 1)};
}

std::optional<Replay> make_avg_backward(const Problem& p) {
  const Tensor dy = images(1, outputs_of(p));
  return Replay{.run =
                    [dy, shape = planes_of(p), options = with_window(p, AvgPool2dOptions{1})] {
                      return std::vector<Tensor>{ops::avg_pool2d_backward(dy, shape, options)};
                    },
                .tolerance = within(12, 1)};
}

std::optional<Replay> make_adaptive(const Problem& p) {
  const Tensor x = images(1, planes_of(p));
  return Replay{.run =
                    [x, output = IntPair(p.small("out_h"), p.small("out_w"))] {
                      return std::vector<Tensor>{ops::adaptive_avg_pool2d(x, output)};
                    },
                .tolerance = within(10, 1)};
}

std::optional<Replay> make_adaptive_backward(const Problem& p) {
  const Tensor dy = images(1, outputs_of(p));
  return Replay{
      .run = [dy, shape = planes_of(p)] { return std::vector<Tensor>{ops::adaptive_avg_pool2d_backward(dy, shape)}; },
      .tolerance = within(12, 1)};
}

}  // namespace

const std::vector<Maker> window_makers{{"max_pool2d", make_max},
                                       {"max_pool2d_backward", make_max_backward},
                                       {"avg_pool2d", make_avg},
                                       {"avg_pool2d_backward", make_avg_backward},
                                       {"adaptive_avg_pool2d", make_adaptive},
                                       {"adaptive_avg_pool2d_backward", make_adaptive_backward}};

}  // namespace crisol::cli::tune
