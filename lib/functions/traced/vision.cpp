// The ONNX nodes for resizing and sampling of images.
#include <cmath>
#include <numeric>
#include <utility>

#include "functions/traced/traced.h"

namespace crisol::traced {

namespace {

/// Whether ONNX Runtime's Resize takes this type, for nearest elements.
bool is_resizable(DType dtype) { return dtype == DType::f32 || dtype == DType::i32 || dtype == DType::u8; }

/// A factor in f32 that turns `size` into `count`. ONNX Runtime multiplies in f32, and ONNX's shape inference
/// multiplies in f64.
float factor_for(double factor, std::int64_t size, std::int64_t count) {
  auto narrow = static_cast<float>(factor);
  if (static_cast<double>(narrow) * static_cast<double>(size) < static_cast<double>(count))
    narrow = std::nextafter(narrow, INFINITY);
  if (narrow * static_cast<float>(size) >= static_cast<float>(count + 1)) narrow = std::nextafter(narrow, 0.0f);
  return narrow;
}

}  // namespace

void resample(Recorder& r, const Tensor& x, int axis, const ops::AxisWeights& weights, const Tensor& y) {
  if (weights.only_picks()) {
    const Value places = r.numbers({weights.indices.begin(), weights.indices.end()});
    return r.bind(y, r.node("Gather", {r.of(x), places}, {{"axis", axis}}));
  }
  // A product with a matrix (size, count), after the axis was moved to the end.
  const std::int64_t count = weights.count();
  std::vector<float> matrix(static_cast<std::size_t>(weights.size * count), 0);
  for (std::int64_t j = 0; j < count; ++j)
    for (auto e = static_cast<std::size_t>(weights.starts[static_cast<std::size_t>(j)]);
         e < static_cast<std::size_t>(weights.starts[static_cast<std::size_t>(j) + 1]); ++e)
      matrix[static_cast<std::size_t>(weights.indices[e] * count + j)] = weights.weights[e];
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  const Value swapped = r.node("Transpose", {r.of(x)}, {{"perm", order}});
  const Value product = r.node("MatMul", {swapped, floats(r, matrix, {weights.size, count}, x.device())});
  r.bind(y, r.node("Transpose", {product}, {{"perm", order}}));
}

void enlarge(Recorder& r, const Tensor& x, std::int64_t down, std::int64_t across, const Tensor& y) {
  if (is_resizable(x.dtype())) {
    std::vector<float> factors(static_cast<std::size_t>(x.dim()), 1);
    factors.end()[-2] = static_cast<float>(down);
    factors.back() = static_cast<float>(across);
    const Value scales = floats(r, factors, {x.dim()}, x.device());
    return r.bind(
        y, r.node("Resize", {r.of(x), Recorder::absent, scales},
                  {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}));
  }
  Value value = r.of(x);
  for (const auto& [axis, factor] : {std::pair{-2, down}, std::pair{-1, across}}) {
    std::vector<std::int64_t> places;
    for (std::int64_t j = 0; j < x.size(axis) * factor; ++j) places.push_back(j / factor);
    value = r.node("Gather", {value, r.numbers(places)}, {{"axis", axis}});
  }
  r.bind(y, value);
}

void interpolate(Recorder& r, const Tensor& x, const InterpolateOptions& o, const Tensor& y) {
  const bool is_cubic = o.mode == InterpolateMode::cubic, is_row = x.dim() == 3;  // A sequence: an image of one row.
  Recorder::Attributes attributes{{"mode", is_cubic ? "cubic" : "linear"},
                                  {"coordinate_transformation_mode", o.align_corners ? "align_corners" : "half_pixel"}};
  if (is_cubic) attributes.insert({"cubic_coeff_a", o.antialias ? -0.5 : -0.75});
  if (is_cubic && o.antialias) attributes.insert({"exclude_outside", 1});
  if (o.antialias) attributes.insert({"antialias", 1});
  Value value = cast(r, r.of(x), x.dtype(), DType::f32);
  if (is_row) value = r.node("Unsqueeze", {value, r.numbers({2})});
  std::vector<Value> inputs{value, Recorder::absent};
  if (o.size.empty() && !o.align_corners) {
    std::vector<float> factors{1, 1};
    if (is_row) factors.push_back(1);
    for (int i = 2; i < x.dim(); ++i) {
      const std::size_t given = o.scale_factor.size() == 1 ? 0 : static_cast<std::size_t>(i) - 2;
      factors.push_back(factor_for(o.scale_factor[given], x.size(i), y.size(i)));
    }
    inputs.push_back(floats(r, factors, {static_cast<std::int64_t>(factors.size())}, x.device()));
  } else {
    std::vector<std::int64_t> sizes(y.shape().begin(), y.shape().end());
    if (is_row) sizes.insert(sizes.begin() + 2, 1);
    inputs.insert(inputs.end(), {Recorder::absent, r.numbers(sizes)});
  }
  value = r.node("Resize", inputs, attributes);
  if (is_row) value = r.node("Squeeze", {value, r.numbers({2})});
  r.bind(y, cast(r, value, DType::f32, y.dtype()));
}

void grid_sample(Recorder& r, const Tensor& x, const Tensor& grid, const GridSampleOptions& o, const Tensor& y) {
  if (o.in_elements) return r.made("grid_sample", y);
  const char* modes[] = {"linear", "nearest", "cubic"};
  const char* paddings[] = {"zeros", "border", "reflection"};
  r.note("GridSample", {x, grid}, y,
         {{"mode", modes[static_cast<int>(o.mode)]},
          {"padding_mode", paddings[static_cast<int>(o.padding_mode)]},
          {"align_corners", o.align_corners ? 1 : 0}});
}

}  // namespace crisol::traced
