#include "functions/vision/resample.h"

#include <algorithm>
#include <cmath>

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/vision.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;
using autograd::unnoted;

namespace {

double value_at(const ResampleFilter& filter, double distance) {
  const double t = std::abs(distance), a = filter.a;
  if (!filter.is_cubic) return std::max(0.0, 1 - t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// Resizes one axis.
Tensor resized(const Tensor& x, int axis, const ops::AxisWeights& weights) {
  // The trace has one node for the op, so the op's tables, which it may keep, are no constants of the trace.
  const Tensor y =
      autograd::noted_as_one([&] { return ops::resample(x, axis, weights); },
                             [&](Trace& trace, const Tensor& y) { traced::resample(trace, x, axis, weights, y); });
  return call("resample", {x}, y, unnoted,
              [&] { return [axis, weights](const Tensor& dy) { return resized(dy, axis, weights.transposed()); }; });
}

/// How often each element of the input is repeated. Returns 0 if the weights do not only repeat elements.
std::int64_t repeats_of(const ops::AxisWeights& weights) {
  if (weights.size == 0 || weights.count() % weights.size != 0 || !weights.only_picks()) return 0;
  const std::int64_t repeats = weights.count() / weights.size;
  for (std::int64_t j = 0; j < weights.count(); ++j)
    if (weights.indices[static_cast<std::size_t>(j)] != j / repeats) return 0;
  return repeats;
}

/// Repeats elements along the last two axes.
Tensor enlarged(const Tensor& x, std::int64_t down, std::int64_t across) {
  return call(
      "enlarge", {x}, ops::enlarge(x, down, across),
      [&](Trace& trace, const Tensor& y) { traced::enlarge(trace, x, down, across, y); },
      [&] {
        return [=, shape = x.shape()](const Tensor& dy) {
          // Each of the two axes becomes two axes here, and all axes before them become one.
          std::int64_t images = 1;
          for (int i = 0; i < shape.rank() - 2; ++i) images *= shape[i];
          const Tensor parts = dy.reshape({images, shape[shape.rank() - 2], down, shape.back(), across});
          return parts.sum({2, 4}).reshape(shape);
        };
      });
}

Tensor picked(const Tensor& x, int axis, const ops::AxisWeights& weights) {
  return index_select(x, axis, from_vector(weights.indices, x.device()));
}

}  // namespace

ops::AxisWeights filter_weights(std::int64_t size, std::int64_t count, const PlaceOf& place,
                                const ResampleFilter& filter) {
  ops::AxisWeights result;
  result.size = size;
  const double radius = (filter.is_cubic ? 2 : 1) / filter.stretch;
  const bool normalizes = filter.stretch < 1 || filter.exclude_outside;
  std::vector<double> weights;
  for (std::int64_t j = 0; j < count; ++j) {
    const double at = place(j);
    if (!std::isnan(at)) {
      const auto first = static_cast<std::int64_t>(std::ceil(at - radius)),
                 last = static_cast<std::int64_t>(std::floor(at + radius));
      double sum = 0;
      weights.clear();
      for (std::int64_t i = first; i <= last; ++i) {
        const bool is_left_out = filter.exclude_outside && (i < 0 || i >= size);
        weights.push_back(is_left_out ? 0 : value_at(filter, (static_cast<double>(i) - at) * filter.stretch));
        sum += weights.back();
      }
      for (std::int64_t i = first; i <= last; ++i) {
        const double weight = weights[static_cast<std::size_t>(i - first)];
        if (weight != 0)
          result.add(std::clamp<std::int64_t>(i, 0, size - 1), normalizes && sum != 0 ? weight / sum : weight);
      }
    }
    result.end();
  }
  return result;
}

ops::AxisWeights pick_weights(std::int64_t size, std::int64_t count, const PlaceOf& position) {
  ops::AxisWeights result;
  result.size = size;
  for (std::int64_t j = 0; j < count; ++j) {
    result.add(static_cast<std::int64_t>(std::clamp(position(j), 0.0, static_cast<double>(size - 1))), 1);
    result.end();
  }
  return result;
}

Tensor resample_axes(const char* op, const Tensor& x, std::vector<ResampledAxis> axes) {
  bool only_picks = true;
  std::int64_t repeats[2] = {1, 1};  // The factors of the last two axes.
  for (auto at = axes.begin(); at != axes.end();) {
    only_picks = only_picks && at->weights.only_picks();
    const std::int64_t count = repeats_of(at->weights);
    const int last = at->axis - (x.dim() - 2);
    const bool is_done = count == 1 || (count > 1 && last >= 0 && x.dim() >= 2);
    if (count > 1 && is_done) repeats[last] = count;
    at = is_done ? axes.erase(at) : at + 1;
  }
  require(only_picks || is_floating(x.dtype()), op, "the input has elements of ", x.dtype(), ", ",
          TypesThat{is_floating}, " expected unless elements are only picked");
  // The axes that shrink most come first, so that the other axes have less to do.
  const auto growth = [](const ResampledAxis& a) {
    return static_cast<double>(a.weights.count()) / static_cast<double>(a.weights.size);
  };
  std::sort(axes.begin(), axes.end(), [&](const ResampledAxis& a, const ResampledAxis& b) {
    return growth(a) != growth(b) ? growth(a) < growth(b) : a.axis > b.axis;
  });
  Tensor y = x;
  const bool computes = is_floating(x.dtype()) && !axes.empty();
  if (computes && axes.size() > 1) y = y.to(value_type(y.dtype()));  // The values between two axes are not rounded.
  for (const ResampledAxis& a : axes) y = computes ? resized(y, a.axis, a.weights) : picked(y, a.axis, a.weights);
  y = y.to(x.dtype());
  return repeats[0] * repeats[1] > 1 ? enlarged(y, repeats[0], repeats[1]) : y;
}

}  // namespace crisol
