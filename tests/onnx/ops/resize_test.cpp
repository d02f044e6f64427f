// Resize of ONNX files against a reference that resizes one axis after another by ONNX's formulas.
#include <algorithm>
#include <cmath>
#include <random>

#include "onnx/models.h"

namespace {

Proto floats(const std::string& name, const std::vector<float>& values) {
  return of::raw_tensor<float>(name, of::f32, {static_cast<std::int64_t>(values.size())}, values);
}

/// The arguments of Resize for one axis.
struct Axis {
  std::string mode, places, nearest;
  bool antialias = false, exclude_outside = false, keeps_fraction = false;
  double a = -0.75;
  std::int64_t size = 0, count = 0;
  float scale = 1, start = 0, end = 1;
};

/// The place of element j in the input, in f32. NaN is outside.
float place_of(const Axis& x, std::int64_t element) {
  const auto j = static_cast<float>(element), n = static_cast<float>(x.size), length = static_cast<float>(x.count);
  const float centre = (j + 0.5f) / x.scale;
  if (x.places == "asymmetric") return j / x.scale;
  if (x.scale == 1 && x.start == 0 && x.end == 1) return j;  // The axis stays, even where a formula moves it.
  if (x.places == "tf_half_pixel_for_nn") return centre;
  if (x.places == "pytorch_half_pixel" && x.count == 1) return 0;
  if (x.places == "align_corners") {
    const float exact = x.keeps_fraction ? x.scale * n : length;
    return x.count == 1 ? 0 : j * (n - 1) / (exact - 1);
  }
  if (x.places == "half_pixel_symmetric") return n / 2 * (1 - length / (x.scale * n)) + centre - 0.5f;
  if (x.places != "tf_crop_and_resize") return centre - 0.5f;
  const float place = x.count == 1 ? 0.5f * (x.start + x.end) * (n - 1)
                                   : x.start * (n - 1) + j * (x.end - x.start) * (n - 1) / (length - 1);
  return place < 0 || place > n - 1 ? std::nanf("") : place;
}

double cubic(double t, double a) {
  t = std::abs(t);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
}

double resized_at(const Axis& x, const std::vector<double>& line, std::int64_t j, double outside) {
  const float place = place_of(x, j);
  if (std::isnan(place)) return outside;
  const auto last = static_cast<double>(x.size - 1);
  const auto element = [&](double at) { return line[static_cast<std::size_t>(std::clamp(at, 0.0, last))]; };
  if (x.mode == "nearest") {
    const double down = std::floor(place), rest = std::abs(place - down - 0.5) < 1e-6 ? 0.5 : place - down;
    if (rest == 0 || x.nearest == "floor") return element(down);
    const bool up = x.nearest == "ceil" || (x.nearest == "round_prefer_ceil" ? rest >= 0.5 : rest > 0.5);
    return element(up ? down + 1 : down);
  }
  const double stretch = x.antialias ? std::min<double>(x.scale, 1) : 1;
  double sum = 0, weights = 0;
  for (double at = std::floor(place) - 2 / stretch - 2; at <= place + 2 / stretch + 2; ++at) {
    const double distance = (std::floor(at) - static_cast<double>(place)) * stretch;
    double weight = x.mode == "cubic" ? cubic(distance, x.a) : std::max(0.0, 1 - std::abs(distance));
    if (x.exclude_outside && (std::floor(at) < 0 || std::floor(at) > last)) weight = 0;
    sum += weight * element(std::floor(at));
    weights += weight;
  }
  return x.exclude_outside || stretch < 1 ? sum / weights : sum;
}

/// Resizes rows and columns of x (size 0, size 1).
std::vector<double> resized(const Axis& rows, const Axis& columns, const std::vector<float>& x, double outside) {
  std::vector<double> wide, line, result(static_cast<std::size_t>(rows.count * columns.count));
  for (std::int64_t i = 0; i < rows.size; ++i) {
    line.assign(x.begin() + i * columns.size, x.begin() + (i + 1) * columns.size);
    for (std::int64_t j = 0; j < columns.count; ++j) wide.push_back(resized_at(columns, line, j, outside));
  }
  for (std::int64_t j = 0; j < columns.count; ++j) {
    line.clear();
    for (std::int64_t i = 0; i < rows.size; ++i) line.push_back(wide[static_cast<std::size_t>(i * columns.count + j)]);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const bool is_outside = std::isnan(place_of(columns, j));
      result[static_cast<std::size_t>(i * columns.count + j)] =
          is_outside ? outside : resized_at(rows, line, i, outside);
    }
  }
  return result;
}

/// A random problem for two axes. Returns the settings of both, and the model.
struct Problem {
  explicit Problem(unsigned seed) : random(seed) {
    const char* modes[] = {"nearest", "linear", "cubic"};
    const char* places[] = {"half_pixel",         "asymmetric",           "align_corners",       "pytorch_half_pixel",
                            "tf_crop_and_resize", "half_pixel_symmetric", "tf_half_pixel_for_nn"};
    const char* nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    Axis both{modes[below(3)], places[below(7)], nearest[below(4)]};
    both.antialias = both.mode != "nearest" && below(4) == 0;
    both.exclude_outside = both.mode == "cubic" && below(3) == 0;
    both.a = below(2) == 0 ? -0.75 : -0.5;
    rows = columns = both;
    for (Axis* axis : {&rows, &columns}) axis->size = 1 + below(12);
    by_scales = below(2) == 0;
    std::vector<float> scales, starts, ends;
    std::vector<std::int64_t> sizes;
    for (Axis* axis : {&rows, &columns}) {
      const auto n = static_cast<float>(axis->size);
      axis->scale = static_cast<float>(30 + below(270)) / 100;
      axis->count = by_scales ? static_cast<std::int64_t>(axis->scale * n) : 1 + below(14);
      if (by_scales && axis->count == 0) axis->scale = static_cast<float>(axis->count = 1);
      if (axis->count == 1 && by_scales && axis->scale == 1) axis->count = axis->size;
      if (!by_scales) axis->scale = static_cast<float>(axis->count) / n;
      if (both.places == "tf_crop_and_resize") {
        axis->start = static_cast<float>(below(4)) / 10;
        axis->end = static_cast<float>(7 + below(5)) / 10;
      }
      scales.push_back(axis->scale);
      sizes.push_back(axis->count);
      starts.push_back(axis->start);
      ends.push_back(axis->end);
    }
    // ONNX's tests of smaller images keep the fractions of lengths.
    rows.keeps_fraction = columns.keeps_fraction = both.mode != "nearest" && rows.scale <= 1 && columns.scale <= 1;
    starts.insert(starts.end(), ends.begin(), ends.end());
    file =
        one_node(node("Resize", {"x", "roi", by_scales ? "scales" : "", by_scales ? "" : "sizes"}, {"y"}, attributes()),
                 {floats("roi", starts), floats("scales", scales), numbers("sizes", sizes)}, 18 + below(2));
  }

  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random); }

  std::vector<Proto> attributes() const {
    std::vector<Proto> list{attribute("mode", rows.mode.c_str()),
                            attribute("coordinate_transformation_mode", rows.places.c_str()),
                            attribute("cubic_coeff_a", static_cast<float>(rows.a)),
                            attribute("extrapolation_value", 7.f),
                            attribute("exclude_outside", std::int64_t{rows.exclude_outside}),
                            attribute("antialias", std::int64_t{rows.antialias}),
                            attribute("axes", Sizes{0, -1})};
    if (rows.mode == "nearest") list.push_back(attribute("nearest_mode", rows.nearest.c_str()));
    return list;
  }

  std::mt19937 random;
  Axis rows, columns;
  bool by_scales = false;
  Proto file;
};

}  // namespace

TEST_CASE("onnx Resize: 500 random sizes and factors in all modes give what ONNX's formulas give") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Problem p(seed);
    CAPTURE(seed);
    CAPTURE(p.rows.mode);
    CAPTURE(p.rows.places);
    const Tensor x = randn({p.rows.size, p.columns.size});
    check_close(result(p.file, x), {p.rows.count, p.columns.count}, resized(p.rows, p.columns, x.to_vector<float>(), 7),
                {100, 10});
  }
}

TEST_CASE("onnx Resize: factors are numbers of f32, and so are sizes and places") {
  const auto by = [](float scale, std::int64_t size, const std::vector<Proto>& attributes, std::int64_t opset = 13) {
    const Tensor x = arange(0, static_cast<double>(size)).reshape({1, 1, size});
    return result(one_node(node("Resize", {"x", "", "scales"}, {"y"}, attributes), {floats("scales", {1, 1, scale})},
                           opset),
                  x)
        .to_vector<float>();
  };
  const Proto asymmetric = attribute("coordinate_transformation_mode", "asymmetric"),
              floor = attribute("nearest_mode", "floor");
  CHECK(by(0.7f, 10, {asymmetric, floor}) == std::vector<float>{0, 1, 2, 4, 5, 7, 8});  // 0.7 x 10 is 7.
  CHECK(by(0.6f, 7, {asymmetric, floor}) == std::vector<float>{0, 1, 3, 5});            // 3 / 0.6 is 5.
  // 2 / (4 / 7) is 3.4999998 in f32 and counts as 3.5.
  const Proto to_four = one_node(
      node("Resize", {"x", "", "", "sizes"}, {"y"}, {asymmetric, attribute("nearest_mode", "round_prefer_ceil")}),
      {numbers("sizes", {1, 1, 4})}, 14);
  CHECK(result(to_four, arange(0, 7).reshape({1, 1, 7})).to_vector<float>() == std::vector<float>{0, 2, 4, 5});
  const Proto aligned = attribute("coordinate_transformation_mode", "align_corners");
  CHECK(by(1.5f, 3, {aligned}) == std::vector<float>{0, 1, 1, 2});
  const std::vector<float> linear = by(1.5f, 3, {aligned, attribute("mode", "linear")});
  REQUIRE(linear.size() == 4);
  CHECK(linear[1] == doctest::Approx(2.0 / 3));
  CHECK(linear[3] == doctest::Approx(2));
  CHECK(by(0.75f, 4, {attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn"), floor}) ==
        std::vector<float>{0, 2, 3});
}

TEST_CASE("onnx Resize: whole numbers are computed in f32 and rounded, and sizes of 0 stay") {
  const Proto u8 =
      of::model(of::graph({.nodes = {node("Resize", {"x", "", "", "sizes"}, {"y"}, {attribute("mode", "linear")})},
                           .initializers = {numbers("sizes", {1, 4})},
                           .inputs = {value("x", of::u8, {"1", "2"})},
                           .outputs = {value("y", of::u8, {"1", "4"})}}),
                19);
  const Tensor y = result(u8, from_vector(std::vector<std::uint8_t>{0, 101}, {1, 2}));
  CHECK(y.dtype() == DType::u8);
  CHECK(y.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 25, 76, 101});
  const auto cubic = [](const std::vector<std::uint8_t>& values) {
    const Proto file =
        of::model(of::graph({.nodes = {node("Resize", {"x", "", "s"}, {"y"}, {attribute("mode", "cubic")})},
                             .initializers = {floats("s", {2})},
                             .inputs = {value("x", of::u8, {"N"})},
                             .outputs = {value("y", of::u8, {"M"})}}),
                  19);
    return result(file, from_vector(values)).to_vector<std::uint8_t>();
  };
  const std::vector<std::uint8_t> sharp = cubic({0, 255, 255, 0});
  CHECK(*std::max_element(sharp.begin(), sharp.end()) == 255);  // The curve goes above it.
  const Proto crop =
      of::model(of::graph({.nodes = {node("Resize", {"x", "roi", "", "sizes"}, {"y"},
                                          {attribute("coordinate_transformation_mode", "tf_crop_and_resize"),
                                           attribute("extrapolation_value", 9.f)})},
                           .initializers = {floats("roi", {0.5f, 1.5f}), numbers("sizes", {3})},
                           .inputs = {value("x", of::i64, {"N"})},
                           .outputs = {value("y", of::i64, {"M"})}}),
                13);
  const std::int64_t large = (std::int64_t{1} << 40) + 1;
  CHECK(result(crop, from_vector(std::vector<std::int64_t>{1, 2, large})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, large, 9});
  const Proto empty = one_node(node("Resize", {"x", "", "", "sizes"}, {"y"}), {numbers("sizes", {0, 6})}, 19);
  CHECK(result(empty, zeros({0, 3})).shape() == Shape{0, 6});
}
