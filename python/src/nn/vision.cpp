// Functions that resample images and select boxes, and draws of categories.
#include <array>

#include "arguments.h"
#include "bindings.h"
#include "option_casters.h"

namespace crisol::python {

namespace {

using OptionalTensor = std::optional<Tensor>;

/// The index of a name in a list of names.
template <std::size_t n>
std::size_t place_of(const char* what, const std::string& name, const std::array<const char*, n>& names) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (name == names[i]) return i;
    all += (i == 0 ? "'" : ", '") + std::string(names[i]) + "'";
  }
  throw Error(ErrorCode::invalid_argument, std::string(what) + " is one of " + all + ", not '" + name + "'");
}

InterpolateMode mode_of(const std::string& name) {
  constexpr std::array<const char*, 6> names{"nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic"};
  constexpr InterpolateMode modes[] = {InterpolateMode::nearest, InterpolateMode::nearest_exact,
                                       InterpolateMode::linear,  InterpolateMode::linear,
                                       InterpolateMode::linear,  InterpolateMode::cubic};
  return modes[place_of("[interpolate] mode", name, names)];
}

using Factors = std::variant<double, std::vector<double>>;

std::vector<double> factors_of(const std::optional<Factors>& factors) {
  if (!factors) return {};
  if (const double* one = std::get_if<double>(&*factors)) return {*one};
  return std::get<std::vector<double>>(*factors);
}

void bind_resampling(nb::module_& m) {
  m.def(
      "interpolate",
      [](const Tensor& x, const std::optional<Shape>& size, const std::optional<Factors>& scale_factor,
         const std::string& mode, bool align_corners, bool antialias) {
        return interpolate(x,
                           {size.value_or(Shape()), factors_of(scale_factor), mode_of(mode), align_corners, antialias});
      },
      "input"_a, "size"_a = nb::none(), "scale_factor"_a = nb::none(), "mode"_a = "nearest", "align_corners"_a = false,
      "antialias"_a = false, Unlocked(),
      "Resizes input (N, C, …) along the axes after the channels. mode is \"nearest\", \"nearest-exact\", \"linear\", "
      "\"bilinear\", \"trilinear\" or \"bicubic\".");
  m.def(
      "grid_sample",
      [](const Tensor& x, const Tensor& grid, const std::string& mode, const std::string& padding, bool align_corners) {
        const auto sampling = static_cast<GridSampleMode>(
            place_of("[grid_sample] mode", mode, std::array<const char*, 3>{"bilinear", "nearest", "bicubic"}));
        const auto outside = static_cast<GridSamplePadding>(place_of(
            "[grid_sample] padding_mode", padding, std::array<const char*, 3>{"zeros", "border", "reflection"}));
        return grid_sample(x, grid, {sampling, outside, align_corners, false});
      },
      "input"_a, "grid"_a, "mode"_a = "bilinear", "padding_mode"_a = "zeros", "align_corners"_a = false, Unlocked(),
      "Reads input (N, C, H, W) at the places (across, down) of grid (N, OH, OW, 2), from -1 to 1.");
  m.def("affine_grid", &affine_grid, "theta"_a, "size"_a, "align_corners"_a = false, Unlocked(),
        "The grid (N, H, W, 2) for grid_sample that the affine maps theta (N, 2, 3) give for size (N, C, H, W).");
  m.def("pixel_shuffle", &pixel_shuffle, "input"_a, "upscale_factor"_a, Unlocked(),
        "(N, C · factor², H, W) becomes (N, C, H · factor, W · factor).");
  m.def("pixel_unshuffle", &pixel_unshuffle, "input"_a, "downscale_factor"_a, Unlocked(),
        "(N, C, H · factor, W · factor) becomes (N, C · factor², H, W).");
}

}  // namespace

void bind_vision(nb::module_& m) {
  bind_resampling(m);
  m.def(
      "deform_conv2d",
      [](const Tensor& x, const Tensor& offset, const Tensor& weight, const OptionalTensor& bias, IntPair stride,
         IntPair padding, IntPair dilation, const OptionalTensor& mask) {
        const auto groups = static_cast<int>(x.size(-3) / weight.size(1));
        return deform_conv2d(x, offset, weight, or_undefined(bias), or_undefined(mask),
                             {stride, padding, dilation, groups});
      },
      "input"_a, "offset"_a, "weight"_a, "bias"_a = nb::none(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
      "mask"_a = nb::none(), Unlocked(), "torchvision's deform_conv2d: conv2d whose windows are deformed by offset.");
  m.def(
      "roi_align",
      [](const Tensor& x, const Tensor& boxes, const Tensor& images, IntPair output_size, double spatial_scale,
         std::int64_t sampling_ratio, bool aligned) {
        return roi_align(
            x, boxes, images,
            {output_size.h, output_size.w, spatial_scale, sampling_ratio < 0 ? 0 : sampling_ratio, aligned});
      },
      "input"_a, "boxes"_a, "images"_a, "output_size"_a, "spatial_scale"_a = 1.0, "sampling_ratio"_a = -1,
      "aligned"_a = false, Unlocked(),
      "The features of boxes (K, 4), each in image images[k] of input (N, C, H, W), as (K, C, *output_size).");
  m.def(
      "non_max_suppression",
      [](const Tensor& boxes, const Tensor& scores, double iou_threshold, std::optional<double> score_threshold,
         std::optional<std::int64_t> max_per_class) {
        NonMaxSuppressionOptions options;
        options.iou_threshold = iou_threshold;
        options.score_threshold = score_threshold.value_or(options.score_threshold);
        options.max_per_class = max_per_class.value_or(options.max_per_class);
        return non_max_suppression(boxes, scores, options);
      },
      "boxes"_a, "scores"_a, "iou_threshold"_a = 0.5, "score_threshold"_a = nb::none(), "max_per_class"_a = nb::none(),
      Unlocked(),
      "The rows (image, class, box) of boxes (N, K, 4) with high scores (N, C, K) that overlap little. Waits.");
}

void bind_sampling(nb::module_& m) {
  using OptionalGenerator = std::optional<Generator>;
  m.def(
      "multinomial",
      [](const Tensor& weights, std::int64_t num_samples, bool replacement, const OptionalGenerator& generator) {
        return generator ? multinomial(weights, num_samples, replacement, *generator)
                         : multinomial(weights, num_samples, replacement);
      },
      "input"_a, "num_samples"_a, "replacement"_a = false, nb::kw_only(), "generator"_a = nb::none(), Unlocked(),
      "Draws num_samples categories from each row of weights (N, C), as int64 (N, num_samples).");
  m.def(
      "sample_logits",
      [](const Tensor& logits, double temperature, std::int64_t top_k, const OptionalGenerator& generator) {
        return generator ? sample_logits(logits, temperature, top_k, *generator)
                         : sample_logits(logits, temperature, top_k);
      },
      "logits"_a, "temperature"_a = 1.0, "top_k"_a = 0, nb::kw_only(), "generator"_a = nb::none(), Unlocked(),
      "Draws one class from each row of logits (N, C), as int64 (N). Temperature 0 takes the largest logit.");
}

}  // namespace crisol::python
