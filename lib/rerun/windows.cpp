// Poolings.
#include <algorithm>

#include "crisol/ops/pool.h"
#include "functions/conv/in_blocks.h"
#include "reference/images/pool.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

Shape planes_of(const Problem& p) { return {1, p["planes"], p["h"], p["w"]}; }
Shape outputs_of(const Problem& p) { return {1, p["planes"], p["out_h"], p["out_w"]}; }

/// Options with which the planes give the problem's outputs. The output size is rounded up or down as needed.
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

DType indices_of(const Problem& p) { return p.type(1) == 0 ? DType::i32 : static_cast<DType>(p.type(1)); }

/// Random images or gradients.
struct Images {
  Shape shape;
  Values values;
  Tensor tensor;

  Images(const Problem& p, std::uint64_t seed, const Shape& of)
      : shape(of), values(values_for(seed, of.numel())), tensor(p.stored(values, of)) {}
};

/// A rerun with one result.
Rerun rerun_with(std::function<Tensor()> run, std::function<Values()> reference, double operations, double factor,
                 double scale) {
  return {.run = [run = std::move(run)] { return std::vector<Tensor>{run()}; },
          .reference = [reference = std::move(reference)] { return std::vector<Values>{reference()}; },
          .operations = operations,
          .tolerance = within(factor, scale)};
}

double operations_of(const Problem& p) {
  return static_cast<double>(outputs_of(p).numel()) * static_cast<double>(p["r"] * p["s"]);
}

// The tolerance is 0, because maxima are exact.
std::optional<Rerun> make_max(const Problem& p) {
  const Images x(p, 1, planes_of(p));
  const MaxPool2dOptions options = max_options(p);
  return Rerun{.run =
                   [=] {
                     const ops::MaxPool2dResult result = ops::max_pool2d(x.tensor, options, indices_of(p));
                     return std::vector<Tensor>{result.values, result.indices};
                   },
               .reference =
                   [=] {
                     const reference::MaxPool result = reference::max_pool2d(x.values, x.shape, options);
                     return std::vector<Values>{result.values, result.indices};
                   },
               .operations = operations_of(p),
               .tolerance = within(0)};
}

std::optional<Rerun> make_max_backward(const Problem& p) {
  const MaxPool2dOptions options = max_options(p);
  const Images x(p, 1, planes_of(p)), dy(p, 2, outputs_of(p));
  const reference::MaxPool forward = reference::max_pool2d(x.values, x.shape, options);
  if (forward.shape != dy.shape) return std::nullopt;
  const Tensor indices = p.tensor(forward.indices, dy.shape, indices_of(p));
  return rerun_with([=] { return ops::max_pool2d_backward(dy.tensor, indices, x.shape, options); },
                    [=] { return reference::max_pool2d_backward(dy.values, forward, x.shape); }, 2 * operations_of(p),
                    4, 0);
}

std::optional<Rerun> make_avg(const Problem& p) {
  const Images x(p, 1, planes_of(p));
  const AvgPool2dOptions options = with_window(p, AvgPool2dOptions{1});
  return rerun_with([=] { return ops::avg_pool2d(x.tensor, options); },
                    [=] { return reference::avg_pool2d(x.values, x.shape, options).values; }, operations_of(p), 10, 1);
}

std::optional<Rerun> make_avg_backward(const Problem& p) {
  const Images dy(p, 1, outputs_of(p));
  const AvgPool2dOptions options = with_window(p, AvgPool2dOptions{1});
  return rerun_with([=, shape = planes_of(p)] { return ops::avg_pool2d_backward(dy.tensor, shape, options); },
                    [=, shape = planes_of(p)] { return reference::avg_pool2d_backward(dy.values, shape, options); },
                    operations_of(p), 12, 1);
}

std::optional<Rerun> make_adaptive(const Problem& p) {
  const Images x(p, 1, planes_of(p));
  const IntPair output(p.small("out_h"), p.small("out_w"));
  return rerun_with([=] { return ops::adaptive_avg_pool2d(x.tensor, output); },
                    [=] { return reference::adaptive_avg_pool2d(x.values, x.shape, output).values; },
                    4 * static_cast<double>(x.shape.numel()), 10, 1);
}

std::optional<Rerun> make_adaptive_backward(const Problem& p) {
  const Images dy(p, 1, outputs_of(p));
  const IntPair output(p.small("out_h"), p.small("out_w"));
  return rerun_with(
      [=, shape = planes_of(p)] { return ops::adaptive_avg_pool2d_backward(dy.tensor, shape); },
      [=, shape = planes_of(p)] { return reference::adaptive_avg_pool2d_backward(dy.values, shape, output); },
      4 * static_cast<double>(planes_of(p).numel()), 12, 1);
}

// The shape of one image whose blocks are the planes. The last block lacks a channel.
Shape blocked_image(const Problem& p) { return {1, p["planes"] * p["block"] - 1, p["h"], p["w"]}; }

double operations_of_blocks(const Problem& p) { return static_cast<double>(p["block"]) * operations_of(p); }

std::optional<Rerun> make_max_blocks(const Problem& p) {
  const Images x(p, 1, blocked_image(p));
  const MaxPool2dOptions options = max_options(p);
  return rerun_with([=, block = p["block"]] { return detail::block_ops().max_pool2d(x.tensor, options, block); },
                    [=] { return reference::max_pool2d(x.values, x.shape, options).values; }, operations_of_blocks(p),
                    0, 0);
}

std::optional<Rerun> make_avg_blocks(const Problem& p) {
  const Images x(p, 1, blocked_image(p));
  AvgPool2dOptions options = with_window(p, AvgPool2dOptions{1});
  options.count_include_pad = p["include_pad"] != 0;
  return rerun_with([=, block = p["block"]] { return detail::block_ops().avg_pool2d(x.tensor, options, block); },
                    [=] { return reference::avg_pool2d(x.values, x.shape, options).values; }, operations_of_blocks(p),
                    10, 1);
}

// Keeps the window, and at least as many elements as the window needs.
void resize_windows(Problem& p, const Sizes& sizes) {
  const auto resize_axis = [&](const char* size, const char* out, const char* kernel, const char* stride,
                               const char* padding, const char* dilation, std::int64_t most) {
    const std::int64_t reach = p[dilation] * (p[kernel] - 1) + 1;
    p.values[size] =
        sizes.divisor > 0 ? std::max(sizes.of(2, most), reach + 1) : sizes.of(p[size], std::max(most, reach + 1));
    p.values[out] = (p[size] + 2 * p[padding] - reach) / std::max<std::int64_t>(1, p[stride]) + 1;
  };
  resize_axis("h", "out_h", "r", "stride_h", "pad_h", "dil_h", 13);
  resize_axis("w", "out_w", "s", "stride_w", "pad_w", "dil_w", 37);
  resize(p, sizes, {{"planes", 5}});
}

void resize_adaptive(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"planes", 5}, {"h", 13}, {"w", 37}, {"out_h", 5}, {"out_w", 7}});
}

}  // namespace

const std::vector<Maker> window_makers{{"max_pool2d", make_max, resize_windows},
                                       {"max_pool2d_backward", make_max_backward, resize_windows},
                                       {"max_pool2d_blocks", make_max_blocks, resize_windows},
                                       {"avg_pool2d_blocks", make_avg_blocks, resize_windows},
                                       {"avg_pool2d", make_avg, resize_windows},
                                       {"avg_pool2d_backward", make_avg_backward, resize_windows},
                                       {"adaptive_avg_pool2d", make_adaptive, resize_adaptive},
                                       {"adaptive_avg_pool2d_backward", make_adaptive_backward, resize_adaptive}};

}  // namespace crisol::rerun
