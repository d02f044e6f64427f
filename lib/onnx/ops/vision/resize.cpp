// Resize and its older form Upsample.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "functions/vision/resample.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/domains/fused.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Datum;
using graph::Run;
using Reals = std::vector<float>;

/// The attributes of Resize. In older versions of the op most of them are fixed.
struct Resizing {
  std::string mode = "nearest", places = "asymmetric", nearest = "floor", policy = "stretch";
  double a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
  bool rounds_up_if_smaller = false;  ///< Rounding in mode "nearest" of version 10.
  std::optional<Numbers> axes;
};

/// The settings for one axis, from the inputs.
struct ResizedAxis {
  int axis;
  std::int64_t size, count;
  float scale;
  float start = 0, end = 1;  ///< The part of the input that is resized, as fractions of its size.
  float aligned = 0;         ///< The length of the result for align_corners.
};

/// The position in the input of element j of the result. ONNX Runtime computes it in f32: with it, 3 / 0.6 is 5.
float place_of(const Resizing& r, const ResizedAxis& a, float j) {
  const auto n = static_cast<float>(a.size), length = static_cast<float>(a.count);
  const float half_pixel = (j + 0.5f) / a.scale - 0.5f;
  if (r.places == "half_pixel") return half_pixel;
  if (r.places == "asymmetric") return j / a.scale;
  if (r.places == "align_corners") return length == 1 ? 0 : j * (n - 1) / (a.aligned - 1);
  if (r.places == "pytorch_half_pixel") return a.count > 1 ? half_pixel : 0;
  if (r.places == "tf_half_pixel_for_nn") return (j + 0.5f) / a.scale;
  if (r.places == "half_pixel_symmetric") return n / 2 * (1 - length / (a.scale * n)) + (j + 0.5f) / a.scale - 0.5f;
  const float place = length == 1 ? 0.5f * (a.start + a.end) * (n - 1)  // tf_crop_and_resize
                                  : a.start * (n - 1) + j * (a.end - a.start) * (n - 1) / (length - 1);
  return place < 0 || place > n - 1 ? std::numeric_limits<float>::quiet_NaN() : place;
}

/// Rounding errors of f32 move a position such as 2 / (4 / 7) away from the middle between two pixels. A position that
/// is nearer to the middle than 1e-6 counts as the middle, as in ONNX Runtime 1.31.
float rounded(const Resizing& r, const ResizedAxis& a, float place) {
  const float down = std::floor(place), up = std::ceil(place), above_middle = place - down - 0.5f;
  constexpr float in_the_middle = 1e-6f;
  if (r.nearest == "round_prefer_floor") return above_middle <= in_the_middle ? down : up;
  if (r.nearest == "round_prefer_ceil") return above_middle < -in_the_middle ? down : up;
  return r.nearest == "ceil" || (r.rounds_up_if_smaller && a.scale < 1) ? up : down;
}

ops::AxisWeights weights_of(const Resizing& r, const ResizedAxis& a) {
  const auto place = [&](std::int64_t j) { return place_of(r, a, static_cast<float>(j)); };
  if (r.mode == "nearest")
    return pick_weights(a.size, a.count, [&](std::int64_t j) {
      const float at = place(j);
      return std::isnan(at) ? 0 : rounded(r, a, at);  // extrapolated() replaces an element that comes from outside.
    });
  return filter_weights(a.size, a.count, place,
                        {.is_cubic = r.mode == "cubic",
                         .a = r.a,
                         .stretch = r.antialias ? std::min(a.scale, 1.0f) : 1.0f,
                         .exclude_outside = r.exclude_outside});
}

/// Keeps the proportions if the policy says so: all axes get the smallest or the largest of the factors.
void keep_proportions(const Resizing& r, std::vector<ResizedAxis>& axes) {
  if (r.policy == "stretch" || axes.empty()) return;
  const auto less = [](const ResizedAxis& a, const ResizedAxis& b) { return a.scale < b.scale; };
  const float scale = r.policy == "not_larger" ? std::min_element(axes.begin(), axes.end(), less)->scale
                                               : std::max_element(axes.begin(), axes.end(), less)->scale;
  for (ResizedAxis& a : axes) {
    a.scale = scale;
    a.count = std::llround(scale * static_cast<float>(a.size));
  }
}

/// A factor times a size may be a fraction. If the whole image shrinks, and the mode is not "nearest", align_corners
/// uses this fraction as the length, as in ONNX's own tests. Otherwise the fraction is cut off, as in ONNX Runtime and
/// PyTorch.
void set_aligned(const Resizing& r, std::vector<ResizedAxis>& axes) {
  const bool shrinks = std::all_of(axes.begin(), axes.end(), [](const ResizedAxis& a) { return a.scale <= 1; });
  for (ResizedAxis& a : axes)
    a.aligned = shrinks && r.mode != "nearest" ? a.scale * static_cast<float>(a.size) : static_cast<float>(a.count);
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
    const auto n = static_cast<float>(a.size);
    require(scales.empty() || (scales[i] > 0 && scales[i] * n < 0x1p31f), "onnx", "a scale is ",
            scales.empty() ? 0 : scales[i], " for an axis of size ", a.size);
    a.count = scales.empty() ? sizes[i] : static_cast<std::int64_t>(scales[i] * n);
    a.scale = !scales.empty() ? scales[i] : a.count == a.size ? 1 : static_cast<float>(a.count) / n;
    if (crops) {
      a.start = roi[i];
      a.end = roi[named.size() + i];
    }
    axes.push_back(a);
  }
  if (scales.empty()) keep_proportions(r, axes);
  set_aligned(r, axes);
  return axes;
}

/// Replaces elements of y that come from outside of the input along the axis by the extrapolation value.
Tensor extrapolated(const Tensor& y, const Resizing& r, const ResizedAxis& a) {
  std::vector<std::uint8_t> outside;
  for (std::int64_t j = 0; j < a.count; ++j) outside.push_back(std::isnan(place_of(r, a, static_cast<float>(j))));
  Shape shape = Shape::filled(y.dim(), 1);
  shape[a.axis] = a.count;
  const Tensor mask = from_vector(outside, shape, DType::boolean, y.device());
  return masked_fill(y, mask, full({}, r.extrapolation, y.dtype(), y.device()));
}

/// Rounds to whole numbers of a type, as ONNX's reference does. u8 needs limits, because a cubic curve can exceed the
/// range of u8.
Tensor to_whole(const Tensor& x, DType dtype) {
  const Tensor whole = round(x);
  return (dtype == DType::u8 ? clamp(whole, 0, 255) : whole).to(dtype);
}

Tensor resized(const Resizing& r, const Tensor& x, const std::vector<ResizedAxis>& axes) {
  std::vector<ResampledAxis> weights;
  Shape shape = x.shape();
  for (const ResizedAxis& a : axes) {
    shape[a.axis] = a.count;
    const bool is_whole = a.start == 0 && a.end == 1;
    if (a.count == a.size && a.scale == 1 && is_whole) continue;
    require((a.size > 0 || a.count == 0) && a.count >= 0 && std::max(a.size, a.count) < INT32_MAX, "onnx",
            "an axis of size ", a.size, " would get size ", a.count);
    weights.push_back({a.axis, weights_of(r, a)});
  }
  if (shape.numel() == 0) return empty(shape, x.dtype(), x.device());
  const bool computes = r.mode == "nearest" || is_floating(x.dtype());
  Tensor y = resample_axes("onnx", computes ? x : x.to(DType::f32), std::move(weights));
  if (r.places == "tf_crop_and_resize" && (r.extrapolation != 0 || r.mode == "nearest"))
    for (const ResizedAxis& a : axes) y = extrapolated(y, r, a);
  return computes ? y : to_whole(y, x.dtype());
}

/// The positions of the inputs. 0 for an input that the version does not have.
struct Inputs {
  std::size_t roi, scales, sizes;
};

/// Waits for the device.
Reals floats_of(const Datum& input, Device device) { return input.tensor(device).to(DType::f32).to_vector<float>(); }

/// Describes a node that repeats each pixel if the factors are whole numbers. Other nodes are no op of graphs.
void describe_repeats(Call& call, const Resizing& r, const Inputs& inputs) {
  const bool is_half =
      r.places == "half_pixel" && (r.nearest == "round_prefer_floor" || r.nearest == "round_prefer_ceil");
  const bool repeats = is_half || (r.places == "asymmetric" && r.nearest == "floor");
  if (r.mode != "nearest" || !repeats || r.axes || r.policy != "stretch") return call.differs();
  const bool has_sizes = inputs.sizes > 0 && call.has_input(inputs.sizes);
  if (!has_sizes) call.describe({{"factors", static_cast<std::int64_t>(inputs.scales)}});
}

/// `fixed` are the factors, if the node has them as an attribute.
Run resize_by(Call& call, const Resizing& r, const Inputs& inputs, const Reals& fixed = {}) {
  call.gives_type_of(0);
  describe_repeats(call, r, inputs);
  const auto stored = [&](std::size_t input) {
    const Datum datum = input == 0 ? Datum() : call.stored(input);
    return datum.defined() ? floats_of(datum, Device()) : Reals();
  };
  const Reals scales = fixed.empty() ? stored(inputs.scales) : fixed, roi = stored(inputs.roi);
  return [=](const Data& in, Device device) {
    const auto given = [&](std::size_t i) { return i > 0 && has_input(in, i); };
    const auto reals = [&](const Reals& known, std::size_t i) {
      return known.empty() && given(i) ? floats_of(in[i], device) : known;
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
  // Some programs write tf_half_pixel_for_nn also for version 13 and newer, which do not have it.
  r.places = call.text_of("coordinate_transformation_mode",
                          {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
                           "tf_half_pixel_for_nn", "half_pixel_symmetric"});
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
  return resize_by(call, r, {.roi = 1, .scales = 2, .sizes = 3});
}

/// In Upsample and in the first version of Resize, element j of the result comes from position j / scale.
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
  const std::vector<double> given = call.reals("scales");
  const Reals scales(given.begin(), given.end());
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
  const Reals scales{1, 1, static_cast<float>(call.real("height_scale", 1)),
                     static_cast<float>(call.real("width_scale", 1))};
  return resize_by(call, r, {.roi = 0, .scales = 0, .sizes = 0}, scales);
}

/// ONNX Runtime's op on images with channels in blocks (nchwc.cpp). Its factors are whole numbers.
Run upsample_in_blocks(Call& call) {
  call.check_counts(1, 1);
  Resizing r = simple_resizing(call);
  r.places = call.text_of("coordinate_transformation_mode", {"asymmetric", "align_corners", "half_pixel"});
  const Numbers given = call.integers("scales");
  require(!given.empty(), "onnx", "attribute scales is missing");
  return resize_by(call, r, {.roi = 0, .scales = 0, .sizes = 0}, Reals(given.begin(), given.end()));
}

}  // namespace

std::vector<Row> resize_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Resize", 10, 10, resize_of_version_10},  {"Resize", 11, newest, resize},
      {"Upsample", 1, 6, upsample_of_version_1}, {"Upsample", 7, 8, upsample_of_version_7},
      {"Upsample", 9, newest, upsample},         {"Upsample", 1, 1, upsample_in_blocks, nchwc_domain},
  };
}

}  // namespace crisol::onnx
