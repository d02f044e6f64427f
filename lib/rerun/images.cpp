// Resizing of images.
#include <algorithm>

#include "crisol/functions/vision.h"
#include "crisol/ops/vision.h"
#include "reference/images/vision.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

std::optional<Rerun> make_enlarge(const Problem& p) {
  const std::int64_t rows = p["rows"], width = p["width"], down = p["down"], across = p["across"];
  if (p["dtype"] != static_cast<std::int64_t>(DType::f32) || std::min({rows, width, down, across}) < 1)
    return std::nullopt;
  const Values values = values_for(1, rows * width);
  const Tensor x = p.tensor(values, {rows, width});
  return Rerun{.run = [=] { return std::vector<Tensor>{ops::enlarge(x, down, across)}; },
               .reference =
                   [=] {
                     Values y;
                     for (std::int64_t i = 0; i < rows * down; ++i)
                       for (std::int64_t j = 0; j < width * across; ++j)
                         y.push_back(values[static_cast<std::size_t>(i / down * width + j / across)]);
                     return std::vector<Values>{y};
                   },
               .operations = static_cast<double>(rows * down * width * across),
               .tolerance = within(0)};
}

// Kernels have separate code for two repetitions along a row, so `down` and `across` keep their values.
void resize_enlarge(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"rows", 13}, {"width", 37}});
  for (const char* name : {"down", "across"}) p.values[name] = std::min<std::int64_t>(p[name], 5);
  p.values["dtype"] = static_cast<std::int64_t>(DType::f32);
}

// Each element has two weights, as in linear interpolation. If the sizes are equal, no weights are needed.
std::optional<Rerun> make_resample(const Problem& p) {
  const std::int64_t outer = p["outer"], out_size = p["out_size"], size = p["size"], inner = p["inner"];
  if (p["terms"] != 2 || size == out_size || size < 2 || std::min({outer, out_size, inner}) < 1) return std::nullopt;
  const Shape shape{1, outer, size, inner};
  Values values = values_for(1, shape.numel());
  const Tensor x = p.stored(values, shape);
  const InterpolateOptions options{.size = {out_size, inner}, .mode = InterpolateMode::linear};
  return Rerun{.run = [=] { return std::vector<Tensor>{interpolate(x, options)}; },
               .reference =
                   [=] {
                     return std::vector<Values>{reference::interpolate({shape, values}, options).values};
                   },
               .operations = static_cast<double>(2 * outer * out_size * inner),
               .tolerance = within(4, 2)};
}

void resize_resample(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"outer", 3}, {"size", 23}, {"inner", 35}, {"out_size", 29}});
  p.values["size"] = std::max<std::int64_t>(2, p["size"]);
  if (p["out_size"] == p["size"]) p.values["out_size"] += 2;
  p.values["terms"] = 2;
}

}  // namespace

const std::vector<Maker> image_makers{{"enlarge", make_enlarge, resize_enlarge},
                                      {"resample", make_resample, resize_resample}};

}  // namespace crisol::rerun
