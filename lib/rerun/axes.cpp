// Reductions, running sums and sorting along an axis.
#include <algorithm>
#include <functional>

#include "crisol/ops/reduce.h"
#include "crisol/ops/sort.h"
#include "reference/indexing.h"
#include "reference/reduce.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

/// One entry for each value of KIND (cl_kernels/reduce/kinds.h).
struct Kind {
  Tensor (*reduce)(const Tensor& x, const Shape& axes);
  double (*reference)(const Values& values);
  double factor, scale;  ///< The tolerance. `scale` is the scale for one element. 0 means the largest result.
};

double sample_variance(const Values& values) { return reference::variance(values, 1); }
double position_of_largest(const Values& values) { return static_cast<double>(reference::first_largest(values)); }
double position_of_smallest(const Values& values) { return static_cast<double>(reference::first_smallest(values)); }

const Kind kinds[] = {
    {[](const Tensor& x, const Shape& axes) { return ops::sum(x, axes); }, reference::sum, 10, 1},
    {[](const Tensor& x, const Shape& axes) { return ops::prod(x, axes); }, reference::product, 64, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::max(x, axes); }, reference::largest, 0, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::min(x, axes); }, reference::smallest, 0, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::logsumexp(x, axes); }, reference::log_sum_exp, 16, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::var(x, axes); }, sample_variance, 32, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::argmax(x, axes); }, position_of_largest, 0, 0},
    {[](const Tensor& x, const Shape& axes) { return ops::argmin(x, axes); }, position_of_smallest, 0, 0}};

std::optional<Rerun> make_reduce(const Problem& p) {
  const auto kind = static_cast<std::size_t>(p["kind"]);
  const std::int64_t outputs = p["outputs"], elements = p["elements"], width = p["width"];
  const bool f32 = p["dtype"] == static_cast<std::int64_t>(DType::f32);
  if (p["fused"] != 0 || !f32 || kind >= std::size(kinds) || width < 1 || outputs % width != 0) return std::nullopt;
  const bool in_rows = p["along"] != 0;
  const Shape shape = in_rows ? Shape{outputs, elements} : Shape{outputs / width, elements, width};
  // The factors are near 1, so that products stay near 1.
  const bool product = kinds[kind].reference == reference::product;
  const Values values = product ? reference::random_values(1, shape.numel(), 0.99, 1.01) : values_for(1, shape.numel());
  const Tensor x = p.tensor(values, shape);
  return Rerun{.run = [=, reduce = kinds[kind].reduce] { return std::vector<Tensor>{reduce(x, {1})}; },
               .reference =
                   [=, of_group = kinds[kind].reference] {
                     Values results;
                     for (const Values& group : reference::reduction_groups(values, shape, {1}))
                       results.push_back(of_group(group));
                     return std::vector<Values>{results};
                   },
               .operations = static_cast<double>(shape.numel()),
               .tolerance = within(kinds[kind].factor, kinds[kind].scale * static_cast<double>(elements))};
}

void resize_reduce(Problem& p, const Sizes& sizes) {
  const std::int64_t width = std::max<std::int64_t>(1, p["width"]);
  p.values["width"] = sizes.of(width, 19);
  p.values["outputs"] = p["width"] * sizes.of(p["outputs"] / width, 3);
  resize(p, sizes, {{"elements", 131}});
  p.values["dtype"] = static_cast<std::int64_t>(DType::f32);
  p.values["fused"] = 0;
}

std::optional<Rerun> make_cumsum(const Problem& p) {
  if (p["dtype"] != 0) return std::nullopt;
  const std::int64_t outer = p["outer"], n = p["length"], inner = p["inner"];
  const bool reverse = p["reverse"] != 0;
  const Values x = values_for(1, outer * n * inner);
  const Tensor input = p.tensor(x, {outer, n, inner});
  return Rerun{
      .run = [=] { return std::vector<Tensor>{reverse ? ops::cumsum_backward(input, 1) : ops::cumsum(input, 1)}; },
      .reference =
          [=] {
            return std::vector<Values>{reference::running(x, {outer, n, inner}, 1, std::plus<>(), reverse)};
          },
      .operations = static_cast<double>(x.size()),
      .tolerance = within(10, static_cast<double>(n))};
}

void resize_cumsum(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"outer", 3}, {"length", 301}, {"inner", 5}});
  p.values["dtype"] = 0;
}

/// The first `count` elements of each sorted row, and their positions.
std::vector<Values> sorted_rows(const Values& x, std::int64_t length, std::int64_t count, bool descending) {
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / std::max<std::int64_t>(1, length);
  const reference::Sorted sorted = reference::sort({{rows, length}, x}, 1, descending);
  return {reference::narrow(sorted.values, 1, 0, count).values, reference::narrow(sorted.indices, 1, 0, count).values};
}

/// Makes a rerun of `run`, which returns sorted values and their positions in the rows of p.
Rerun ordered(const Problem& p, std::int64_t count, bool descending,
              SortResult (*run)(const Tensor&, std::int64_t, bool)) {
  const std::int64_t length = p["length"];
  const Values values = values_for(1, p["rows"] * length);
  const Tensor x = p.tensor(values, {p["rows"], length});
  return {.run =
              [=] {
                const SortResult result = run(x, count, descending);
                return std::vector<Tensor>{result.values, result.indices};
              },
          .reference = [=] { return sorted_rows(values, length, count, descending); },
          .operations = static_cast<double>(values.size()),
          .tolerance = within(0)};
}

std::optional<Rerun> make_topk(const Problem& p) {
  if (p["dtype"] != static_cast<std::int64_t>(DType::f32)) return std::nullopt;
  return ordered(p, p["k"], p["largest"] != 0,
                 [](const Tensor& x, std::int64_t k, bool largest) { return ops::topk(x, k, 1, largest); });
}

std::optional<Rerun> make_sort(const Problem& p) {
  return ordered(p, p["length"], false, [](const Tensor& x, std::int64_t, bool) { return ops::sort(x, 1); });
}

void resize_order(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"rows", 3}, {"length", 301}, {"k", 13}});
  p.values["dtype"] = static_cast<std::int64_t>(DType::f32);
}

}  // namespace

const std::vector<Maker> axis_makers{{"reduce", make_reduce, resize_reduce},
                                     {"cumsum", make_cumsum, resize_cumsum},
                                     {"topk", make_topk, resize_order},
                                     {"sort", make_sort, resize_order}};

}  // namespace crisol::rerun
