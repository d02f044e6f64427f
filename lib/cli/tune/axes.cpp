// Reductions, running sums and sorting along an axis.
#include <algorithm>

#include "cli/tune/replay.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "reference/reduce.h"

namespace crisol::cli::tune {

namespace {

/// One for each value of KIND (lib/ops/reduce_launch.h).
struct Kind {
  Tensor (*reduce)(const Tensor& x, const Shape& axes);
  double factor, scale;  ///< Of the tolerance; scale times the number of elements, or the largest result.
};

const Kind kinds[] = {{[](const Tensor& x, const Shape& axes) { return ops::sum(x, axes); }, 10, 1},
                      {[](const Tensor& x, const Shape& axes) { return ops::prod(x, axes); }, 64, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::max(x, axes); }, 0, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::min(x, axes); }, 0, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::logsumexp(x, axes); }, 16, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::var(x, axes); }, 32, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::argmax(x, axes); }, 0, 0},
                      {[](const Tensor& x, const Shape& axes) { return ops::argmin(x, axes); }, 0, 0}};

std::optional<Replay> make_reduce(const Problem& p) {
  const auto kind = static_cast<std::size_t>(p["kind"]);
  const std::int64_t outputs = p["outputs"], elements = p["elements"], width = p["width"];
  const bool f32 = p["dtype"] == static_cast<std::int64_t>(DType::f32);
  if (p["fused"] != 0 || !f32 || kind >= std::size(kinds) || width < 1 || outputs % width != 0) return std::nullopt;
  const bool in_rows = p["along"] != 0;
  const Shape shape = in_rows ? Shape{outputs, elements} : Shape{outputs / width, elements, width};
  const Tensor x = tensor_of(values_for(1, shape.numel()), shape);
  Replay replay;
  replay.run = [=, reduce = kinds[kind].reduce] { return std::vector<Tensor>{reduce(x, {1})}; };
  replay.tolerance = within(kinds[kind].factor, kinds[kind].scale * static_cast<double>(elements));
  return replay;
}

std::optional<Replay> make_cumsum(const Problem& p) {
  if (p["i64"] != 0) return std::nullopt;
  const std::int64_t outer = p["outer"], n = p["length"], inner = p["inner"];
  const bool reverse = p["reverse"] != 0;
  const Values x = values_for(1, outer * n * inner);
  const Tensor input = tensor_of(x, {outer, n, inner});
  return Replay{
      .run = [=] { return std::vector<Tensor>{reverse ? ops::cumsum_backward(input, 1) : ops::cumsum(input, 1)}; },
      .reference = [=] { return std::vector<Values>{reference::cumsum(x, outer, n, inner, reverse)}; },
      .effort = static_cast<double>(x.size()),
      .tolerance = within(10, static_cast<double>(n))};
}

std::optional<Replay> make_topk(const Problem& p) {
  if (p["dtype"] != static_cast<std::int64_t>(DType::f32)) return std::nullopt;
  const Tensor x = tensor_of(values_for(1, p["rows"] * p["length"]), {p["rows"], p["length"]});
  return Replay{.run =
                    [x, k = p["k"], largest = p["largest"] != 0] {
                      const SortResult result = ops::topk(x, k, 1, largest);
                      return std::vector<Tensor>{result.values, result.indices};
                    },
                .tolerance = within(0)};
}

std::optional<Replay> make_sort(const Problem& p) {
  const Tensor x = tensor_of(values_for(1, p["rows"] * p["length"]), {p["rows"], p["length"]});
  return Replay{.run =
                    [x] {
                      const SortResult result = ops::sort(x, 1);
                      return std::vector<Tensor>{result.values, result.indices};
                    },
                .tolerance = within(0)};
}

}  // namespace

const std::vector<Maker> axis_makers{
    {"reduce", make_reduce}, {"cumsum", make_cumsum}, {"topk", make_topk}, {"sort", make_sort}};

}  // namespace crisol::cli::tune
