// Pools, and resizing and sampling of images.
#include <cmath>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "functions/vision/resample.h"
#include "graph/ops/layers.h"
#include "onnx/writer/lowering.h"

namespace crisol::onnx {

namespace {

/// Resize with nearest elements takes these types in ONNX Runtime.
bool is_resizable(DType dtype) { return dtype == DType::f32 || (is_whole(dtype) && size_of(dtype) <= 4); }

/// A factor in f32 by which a size becomes `count`. ONNX Runtime multiplies in f32, ONNX's inference of shapes in f64.
float factor_for(double factor, std::int64_t size, std::int64_t count) {
  auto narrow = static_cast<float>(factor);
  if (static_cast<double>(narrow) * static_cast<double>(size) < static_cast<double>(count))
    narrow = std::nextafter(narrow, INFINITY);
  if (narrow * static_cast<float>(size) >= static_cast<float>(count + 1)) narrow = std::nextafter(narrow, 0.0f);
  return narrow;
}

using Numbers = std::vector<std::int64_t>;

const Numbers& numbers_of(const graph::Node& node, const char* name) {
  return std::get<Numbers>(node.attributes.at(name));
}
std::int64_t number_of(const graph::Node& node, const char* name) {
  return std::get<std::int64_t>(node.attributes.at(name));
}

int floats(Lowering& to, const std::vector<float>& values, const Shape& shape) {
  return to.constant(from_vector(values, shape));
}

/// A product with a matrix (size, count), where the axis is the last one.
int resampled(Lowering& to, int x, int rank, int axis, const ops::AxisWeights& weights) {
  const std::int64_t size = weights.size, count = weights.count();
  std::vector<float> matrix(static_cast<std::size_t>(size * count), 0);
  for (std::int64_t j = 0; j < count; ++j)
    for (auto e = static_cast<std::size_t>(weights.starts[static_cast<std::size_t>(j)]);
         e < static_cast<std::size_t>(weights.starts[static_cast<std::size_t>(j) + 1]); ++e)
      matrix[static_cast<std::size_t>(weights.indices[e] * count + j)] = static_cast<float>(weights.weights[e]);
  Numbers order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  const int swapped = to.node("Transpose", {x}, {{"perm", order}});
  const int product = to.node("MatMul", {swapped, floats(to, matrix, {size, count})});
  return to.node("Transpose", {product}, {{"perm", order}});
}

/// Whether Resize of ONNX Runtime computes the same. It takes volumes, but not with cubic curves. Its antialias without
/// cubic curves repeats the border, which differs from PyTorch.
bool is_resize(const InterpolateOptions& options, int rank) {
  return options.mode == InterpolateMode::cubic ? rank <= 4 : rank <= 5 && !options.antialias;
}

}  // namespace

/// Two products: a matrix of means on the left, and another on the right.
std::vector<int> lower_adaptive_avg_pool(Lowering& to, const graph::Node& node) {
  const int x = node.inputs[0];
  const auto means = [&](std::size_t axis, bool transposed) {
    const std::int64_t from = to.size(x, 2 + static_cast<int>(axis)), count = numbers_of(node, "size")[axis];
    std::vector<float> values(static_cast<std::size_t>(from * count));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = i * from / count, end = ((i + 1) * from + count - 1) / count;
      for (std::int64_t k = first; k < end; ++k)
        values[static_cast<std::size_t>(transposed ? k * count + i : i * from + k)] =
            1 / static_cast<float>(end - first);
    }
    return floats(to, values, transposed ? Shape{from, count} : Shape{count, from});
  };
  const int rows = to.node("MatMul", {means(0, false), x});
  return {to.node("MatMul", {rows, means(1, true)})};
}

std::vector<int> lower_conv(Lowering& to, const graph::Node& node) {
  const Shape weight = to.shape(node.inputs[1]);
  Attributes attributes{{"kernel_shape", Numbers(weight.begin() + 2, weight.end())},
                        {"strides", numbers_of(node, "stride")},
                        {"pads", numbers_of(node, "padding")},
                        {"dilations", numbers_of(node, "dilation")},
                        {"group", number_of(node, "groups")}};
  if (node.op == graph::Op::conv) return {to.node("Conv", node.inputs, attributes)};
  attributes.emplace("output_padding", numbers_of(node, "output_padding"));
  return {to.node("ConvTranspose", node.inputs, attributes)};
}

/// ONNX has no divisor, so it becomes a factor. The last windows of ceil_mode get more padding if the padding does not
/// count. Otherwise they need ONNX's ceil_mode, which also counts a window that covers only padding.
std::vector<int> lower_pool(Lowering& to, const graph::Node& node) {
  const bool is_max = node.op == graph::Op::max_pool;
  const int x = node.inputs[0];
  const Numbers &kernel = numbers_of(node, "kernel"), &strides = numbers_of(node, "stride");
  const std::string op = concat(is_max ? "max_pool" : "avg_pool", kernel.size(), 'd');
  Numbers pads = numbers_of(node, "padding");
  const bool counts_padding = !is_max && number_of(node, "count_include_pad") != 0;
  const std::int64_t divisor = is_max ? 0 : number_of(node, "divisor");
  Shape image, ceiled;
  bool has_more = false;
  double taps = 1;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const int axis = 2 + static_cast<int>(i);
    const std::int64_t dilation = is_max ? numbers_of(node, "dilation")[i] : 1;
    const std::int64_t room = to.size(x, axis) + 2 * pads[i] - dilation * (kernel[i] - 1) - 1;
    image.push_back(to.size(node.outputs[0], axis));
    ceiled.push_back((room + strides[i] - 1) / strides[i] + 1);
    const std::int64_t more = (image.back() - 1) * strides[i] - room;
    has_more = has_more || more > 0;
    if (more > 0 && !counts_padding) pads[kernel.size() + i] += more;
    taps *= static_cast<double>(kernel[i]);
  }
  const bool rounds_up = has_more && (counts_padding || divisor != 0);
  require(!rounds_up || divisor == 0, "trace", op, " with ceil_mode and divisor ", divisor, " has no form in ONNX");
  require(!rounds_up || image == ceiled, "trace", op, "'s ceil_mode gives an image of ", image,
          " here, which ONNX computes as ", ceiled);
  Attributes attributes{
      {"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"ceil_mode", rounds_up ? 1 : 0}};
  if (is_max) {
    attributes.emplace("dilations", numbers_of(node, "dilation"));
    return {to.node("MaxPool", {x}, attributes)};
  }
  attributes.emplace("count_include_pad", counts_padding || divisor != 0 ? 1 : 0);
  if (divisor == 0) return {to.node("AveragePool", {x}, attributes)};
  const int mean = to.node("AveragePool", {x}, attributes);
  return {to.node("Mul", {mean, to.number(taps / static_cast<double>(divisor), to.dtype(x))})};
}

std::vector<int> lower_resample(Lowering& to, const graph::Node& node) {
  const int x = node.inputs[0];
  return {resampled(to, x, to.rank(x), static_cast<int>(number_of(node, "axis")), graph::axis_weights_of(node))};
}

std::vector<int> lower_enlarge(Lowering& to, const graph::Node& node) {
  const int x = node.inputs[0];
  const std::int64_t down = number_of(node, "down"), across = number_of(node, "across");
  if (is_resizable(to.dtype(x))) {
    std::vector<float> factors(static_cast<std::size_t>(to.rank(x)), 1);
    factors.end()[-2] = static_cast<float>(down);
    factors.back() = static_cast<float>(across);
    return {
        to.node("Resize", {x, graph::absent, floats(to, factors, {to.rank(x)})},
                {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})};
  }
  int value = x;
  for (const auto& [axis, factor] : {std::pair{-2, down}, std::pair{-1, across}}) {
    Numbers places;
    for (std::int64_t j = 0; j < to.size(x, axis) * factor; ++j) places.push_back(j / factor);
    value = to.node("Gather", {value, to.numbers(places)}, {{"axis", axis}});
  }
  return {value};
}

std::vector<int> lower_interpolate(Lowering& to, const graph::Node& node) {
  const int x = node.inputs[0], y = node.outputs[0], rank = to.rank(x);
  const InterpolateOptions options = graph::interpolation_of(node);
  int value = to.cast(x, to.dtype(x), DType::f32);
  if (!is_resize(options, rank)) {
    for (const auto& [axis, weights] : interpolated_axes(to.shape(x), options))
      value = resampled(to, value, rank, axis, weights);
    return {to.cast(value, DType::f32, to.dtype(y))};
  }
  const bool is_cubic = options.mode == InterpolateMode::cubic, antialias = options.antialias;
  const bool is_row = rank == 3;  // A row becomes an image.
  Attributes attributes{{"mode", is_cubic ? "cubic" : "linear"},
                        {"coordinate_transformation_mode", options.align_corners ? "align_corners" : "half_pixel"}};
  if (is_cubic) attributes.insert({"cubic_coeff_a", antialias ? -0.5 : -0.75});
  if (is_cubic && antialias) attributes.insert({"exclude_outside", 1});
  if (antialias) attributes.insert({"antialias", 1});
  if (is_row) value = to.node("Unsqueeze", {value, to.numbers({2})});
  std::vector<int> inputs{value, graph::absent};
  if (options.size.empty() && !options.align_corners) {
    const std::vector<double>& given = options.scale_factor;
    std::vector<float> factors(is_row ? 3 : 2, 1);
    for (int i = 2; i < rank; ++i)
      factors.push_back(
          factor_for(given[given.size() == 1 ? 0 : static_cast<std::size_t>(i) - 2], to.size(x, i), to.size(y, i)));
    inputs.push_back(floats(to, factors, {static_cast<std::int64_t>(factors.size())}));
  } else {
    Numbers sizes;
    for (int i = 0; i < rank; ++i) sizes.push_back(to.size(y, i));
    if (is_row) sizes.insert(sizes.begin() + 2, 1);
    inputs.insert(inputs.end(), {graph::absent, to.numbers(sizes)});
  }
  value = to.node("Resize", inputs, attributes);
  if (is_row) value = to.node("Squeeze", {value, to.numbers({2})});
  return {to.cast(value, DType::f32, to.dtype(y))};
}

std::vector<int> lower_grid_sample(Lowering& to, const graph::Node& node) {
  require(number_of(node, "in_elements") == 0, "trace", "grid_sample with in_elements has no form in ONNX");
  const char* modes[] = {"linear", "nearest", "cubic"};
  const char* paddings[] = {"zeros", "border", "reflection"};
  return {to.node("GridSample", node.inputs,
                  {{"mode", modes[number_of(node, "mode")]},
                   {"padding_mode", paddings[number_of(node, "padding_mode")]},
                   {"align_corners", number_of(node, "align_corners")}})};
}

}  // namespace crisol::onnx
