// Resize and its older form Upsample.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "functions/vision/resample.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using Reals = std::vector<double>;

/// The attributes. Older versions of the op fix most of them.
struct Resizing {
  std::string mode = "nearest", places = "asymmetric", nearest = "floor", policy = "stretch";
  double a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
  bool rounds_up_if_smaller = false;  ///< The nearest mode of version 10.
  std::optional<Numbers> axes;
};

/// The settings of one axis, from the inputs.
struct ResizedAxis {
  int axis;
  std::int64_t size, count;
  double scale;
  double start = 0, end = 1;  ///< The part of the input that is resized, in units of the whole.
};

/// The place of an element in the input.
double place_of(const Resizing& r, const ResizedAxis& a, double j) {
  const double n = static_cast<double>(a.size), width = a.scale * n;  // A fraction if a factor is given.
  const double half_pixel = (j + 0.5) / a.scale - 0.5;
  if (r.places == "half_pixel") return half_pixel;
  if (r.places == "asymmetric") return j / a.scale;
  if (r.places == "align_corners") return width == 1 ? 0 : j * (n - 1) / (width - 1);
  if (r.places == "pytorch_half_pixel") return a.count > 1 ? half_pixel : 0;
  if (r.places == "tf_half_pixel_for_nn") return (j + 0.5) / a.scale;
  if (r.places == "half_pixel_symmetric") return n / 2 * (1 - static_cast<double>(a.count) / width) + half_pixel;
  const double place =
      width == 1 ? (a.start + a.end) / 2 * (n - 1) : a.start * (n - 1) + j * (a.end - a.start) * (n - 1) / (width - 1);
  return place < 0 || place > n - 1 ? std::numeric_limits<double>::quiet_NaN() : place;  // tf_crop_and_resize
}

double rounded(const Resizing& r, const ResizedAxis& a, double place) {
  if (r.nearest == "round_prefer_floor") return std::ceil(place - 0.5);
  if (r.nearest == "round_prefer_ceil") return std::floor(place + 0.5);
  const bool up = r.nearest == "ceil" || (r.rounds_up_if_smaller && a.scale < 1);
  return up ? std::ceil(place) : std::floor(place);
}

ops::AxisWeights weights_of(const Resizing& r, const ResizedAxis& a) {
  const auto place = [&](std::int64_t j) { return place_of(r, a, static_cast<double>(j)); };
  if (r.mode == "nearest")
    return pick_weights(a.size, a.count, [&](std::int64_t j) { return rounded(r, a, place(j)); });
  return filter_weights(a.size, a.count, place,
                        {.is_cubic = r.mode == "cubic",
                         .a = r.a,
                         .stretch = r.antialias ? std::min(a.scale, 1.0) : 1,
                         .exclude_outside = r.exclude_outside});
}

/// Sizes that keep the proportions: all axes get the smallest or the largest of the factors.
void keep_proportions(const Resizing& r, std::vector<ResizedAxis>& axes) {
  if (r.policy == "stretch" || axes.empty()) return;
  const auto less = [](const ResizedAxis& a, const ResizedAxis& b) { return a.scale < b.scale; };
  const double scale = r.policy == "not_larger" ? std::min_element(axes.begin(), axes.end(), less)->scale
                                                : std::max_element(axes.begin(), axes.end(), less)->scale;
  for (ResizedAxis& a : axes) {
    a.scale = scale;
    a.count = static_cast<std::int64_t>(scale * static_cast<double>(a.size) + 0.5);
  }
}

/// One entry for each axis that the inputs name.
std::vector<ResizedAxis> resized_axes(const Resizing& r, const Shape& shape, const Reals& scales, const Numbers& sizes,
                                      const Reals& roi) {
  Numbers named = r.axes.value_or(Numbers());
  for (std::int64_t i = 0; !r.axes && i < shape.rank(); ++i) named.push_back(i);
  require(scales.empty() != sizes.empty(), "onnx", scales.size(), " scales and ", sizes.size(),
          " sizes, one of both expected");
  require(std::max(scales.size(), sizes.size()) == named.size(), "onnx", std::max(scales.size(), sizes.size()),
          " scales or sizes for ", named.size(), " axes of an input of shape ", shape);
  const bool crops = r.places == "tf_crop_and_resize";
  require(!crops || roi.size() == 2 * named.size(), "onnx", "roi has ", roi.size(), " numbers, ", 2 * named.size(),
          " expected");
  std::vector<ResizedAxis> axes;
  for (std::size_t i = 0; i < named.size(); ++i) {
    ResizedAxis a{.axis = axis_of(named[i], shape.rank()), .size = 0, .count = 0, .scale = 0};
    for (const ResizedAxis& other : axes) require(other.axis != a.axis, "onnx", "axis ", a.axis, " is given twice");
    a.size = shape[a.axis];
    const auto n = static_cast<double>(a.size);
    require(scales.empty() || (scales[i] > 0 && scales[i] * n < 0x1p31), "onnx", "a scale is ",
            scales.empty() ? 0 : scales[i], " for an axis of size ", a.size);
    a.count = scales.empty() ? sizes[i] : static_cast<std::int64_t>(scales[i] * n);
    a.scale = scales.empty() ? static_cast<double>(a.count) / n : scales[i];
    if (crops) {
      a.start = roi[i];
      a.end = roi[named.size() + i];
    }
    axes.push_back(a);
  }
  keep_proportions(r, axes);
  return axes;
}

/// Puts `value` where an axis lies outside the input.
Tensor extrapolated(const Tensor& y, const Resizing& r, const ResizedAxis& a) {
  std::vector<std::uint8_t> outside;
  for (std::int64_t j = 0; j < a.count; ++j) outside.push_back(std::isnan(place_of(r, a, static_cast<double>(j))));
  Shape shape = Shape::filled(y.dim(), 1);
  shape[a.axis] = a.count;
  return where(from_vector(outside, shape, DType::boolean, y.device()), r.extrapolation, y);
}

Tensor resized(const Resizing& r, const Tensor& x, const std::vector<ResizedAxis>& axes) {
  std::vector<ResampledAxis> weights;
  for (const ResizedAxis& a : axes) {
    const bool is_whole = a.start == 0 && a.end == 1;
    if (a.count == a.size && a.scale == 1 && is_whole) continue;
    require(a.size > 0 && a.count > 0 && std::max(a.size, a.count) < INT32_MAX, "onnx", "an axis of size ", a.size,
            " would get size ", a.count);
    weights.push_back({a.axis, weights_of(r, a)});
  }
  Tensor y = resample_axes("onnx", x, std::move(weights));
  if (r.places == "tf_crop_and_resize" && r.extrapolation != 0)
    for (const ResizedAxis& a : axes) y = extrapolated(y, r, a);
  return y;
}

/// Inputs with these positions; 0 for an input that the version does not have.
struct Inputs {
  std::size_t roi, scales, sizes;
};

/// `fixed`: factors that the node has as an attribute.
Run resize_by(Call& call, const Resizing& r, const Inputs& inputs, const Reals& fixed = {}) {
  const auto stored = [&](std::size_t input) {
    const Datum datum = input == 0 ? Datum() : call.stored(input);
    return datum.defined() ? reals_of(datum, Device()) : Reals();
  };
  const Reals scales = fixed.empty() ? stored(inputs.scales) : fixed, roi = stored(inputs.roi);
  return [=](const Data& in, Device device) {
    const auto given = [&](std::size_t i) { return i > 0 && has_input(in, i); };
    const auto reals = [&](const Reals& known, std::size_t i) {
      return known.empty() && given(i) ? reals_of(in[i], device) : known;
    };
    const Tensor x = in[0].tensor(device);
    const Numbers sizes = given(inputs.sizes) ? in[inputs.sizes].numbers() : Numbers();
    const bool crops = r.places == "tf_crop_and_resize";
    return Data{resized(
        r, x,
        resized_axes(r, x.shape(), reals(scales, inputs.scales), sizes, crops ? reals(roi, inputs.roi) : Reals()))};
  };
}

Run resize(Call& call) {
  call.check_counts(1, 4);
  Resizing r;
  r.mode = call.text_of("mode", {"nearest", "linear", "cubic"});
  r.places = call.version() < 13 ? call.text_of("coordinate_transformation_mode",
                                                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                 "tf_crop_and_resize", "tf_half_pixel_for_nn"})
                                 : call.text_of("coordinate_transformation_mode",
                                                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                                 "tf_crop_and_resize", "half_pixel_symmetric"});
  r.nearest = call.text_of("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  r.a = call.real("cubic_coeff_a", -0.75);
  r.extrapolation = call.real("extrapolation_value", 0);
  r.exclude_outside = call.integer("exclude_outside", 0) != 0;
  if (call.version() >= 18) {
    r.policy = call.text_of("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
    r.antialias = call.integer("antialias", 0) != 0;
    if (call.has("axes")) r.axes = call.integers("axes");
  }
  require(!r.antialias || r.mode != "nearest", "onnx", "antialias with mode nearest is not supported");
  require(call.has_input(2) || call.has_input(3), "onnx", "there are no scales and no sizes");
  // By the text of the standard a factor then belongs to the part that is resized, by its reference to the whole.
  require(r.places != "tf_crop_and_resize" || call.has_input(3), "onnx",
          "tf_crop_and_resize with scales is not supported, with sizes it is");
  return resize_by(call, r, {.roi = 1, .scales = 2, .sizes = 3});
}

/// Upsample and the first Resize read element j of the result at j / scale.
Resizing simple_resizing(Call& call) {
  Resizing r;
  r.mode = call.text_of("mode", {"nearest", "linear"});
  return r;
}

Run resize_of_version_10(Call& call) {
  call.check_counts(2, 2);
  Resizing r = simple_resizing(call);
  r.rounds_up_if_smaller = true;
  return resize_by(call, r, {.roi = 0, .scales = 1, .sizes = 0});
}

Run upsample(Call& call) {
  call.check_counts(2, 2);
  return resize_by(call, simple_resizing(call), {.roi = 0, .scales = 1, .sizes = 0});
}

Run upsample_of_version_7(Call& call) {
  call.check_counts(1, 1);
  const Reals scales = call.reals("scales");
  require(!scales.empty(), "onnx", "attribute scales is missing");
  return resize_by(call, simple_resizing(call), {.roi = 0, .scales = 0, .sizes = 0}, scales);
}

Run upsample_of_version_1(Call& call) {
  call.check_counts(1, 1);
  require(call.has("height_scale") && call.has("width_scale"), "onnx",
          "attribute height_scale or width_scale is missing");
  call.require_rank(0, 4, 4);
  Resizing r;
  r.mode = call.text_of("mode", {"nearest", "bilinear"});
  if (r.mode == "bilinear") r.mode = "linear";
  const Reals scales{1, 1, call.real("height_scale", 1), call.real("width_scale", 1)};
  return resize_by(call, r, {.roi = 0, .scales = 0, .sizes = 0}, scales);
}

}  // namespace

std::vector<Row> resize_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Resize", 10, 10, resize_of_version_10},  {"Resize", 11, newest, resize},
      {"Upsample", 1, 6, upsample_of_version_1}, {"Upsample", 7, 8, upsample_of_version_7},
      {"Upsample", 9, newest, upsample},
  };
}

}  // namespace crisol::onnx
