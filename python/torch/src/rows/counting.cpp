// Counting, distinct elements, and elements by rank. Results whose size depends on the elements wait for the device.
#include <array>
#include <cmath>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/select.h"
#include "crisol/functions/sort.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Scalar;
using crisol::Tensor;

Tensor flat(const Tensor& x) { return ops::reshape(x, {-1}); }

// How often each number up to `count` is in `numbers`, or the sum of their weights.
Tensor counts_of(const Tensor& numbers, const Tensor& weights, std::int64_t count) {
  return ops::index_add(crisol::zeros({count}, weights.dtype(), weights.device()), 0, numbers, weights);
}
Tensor ones_like(const Tensor& x, DType type) { return crisol::ones(x.shape(), type, x.device()); }

// (x, weights, the least size)
Tensor bincount(const Call& c) {
  const Tensor x = c.tensor(0), weights = c.tensor(1);
  need(x.dim() == 1 && crisol::is_whole(x.dtype()) && c.whole(2) >= 0, "bincount of other than whole numbers");
  std::int64_t size = c.whole(2);
  if (x.numel() > 0) {
    need(ops::min(x).item<std::int64_t>() >= 0, "bincount of negative numbers");
    size = std::max(size, ops::max(x).item<std::int64_t>() + 1);
  }
  if (!weights.defined()) return counts_of(x, ones_like(x, DType::i64), size);
  need(weights.shape() == x.shape(), "weights of another shape");
  return counts_of(x, ops::cast(weights, weights.dtype() == DType::f32 ? DType::f32 : DType::f64), size);
}

// (x, bins, min, max)
Tensor histogram(const Call& c) {
  const Tensor x = flat(c.tensor(0));
  const std::int64_t bins = c.whole(1);
  need(x.dtype() == DType::f32 && x.numel() > 0 && bins > 0, "a histogram of other types than float32");
  double low = c.number(2), high = c.number(3);
  if (low == high) {
    low = ops::min(x).item<float>();
    high = ops::max(x).item<float>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  need(low < high && std::isfinite(low) && std::isfinite(high), "limits that are not finite");
  const Tensor counts = ops::logical_and(ops::ge(x, low), ops::le(x, high));
  const Tensor place = ops::div(ops::mul(ops::sub(x, low), static_cast<double>(bins)), high - low);
  const Tensor bin = ops::minimum(ops::cast(ops::where(counts, place, 0.0), DType::i64), Scalar(bins - 1));
  return counts_of(bin, ops::cast(counts, DType::f32), bins);
}

// (counts, the number of results): the number of each element, as often as its count.
Tensor repeat_interleave(const Call& c) {
  const Tensor counts = c.tensor(0);
  need(counts.dim() == 1, "counts in a matrix");
  return crisol::repeat_interleave(
      crisol::arange(0, static_cast<double>(counts.numel()), 1, DType::i64, counts.device()), counts, 0);
}

Tensor nothing(const Tensor& x) { return crisol::empty({0}, DType::i64, x.device()); }

// (x, sorted, with positions, with counts): elements, positions and perhaps counts. As on PyTorch's CPU, the elements
// are sorted in any case.
Results unique(const Call& c) {
  const Tensor x = c.tensor(0);
  const crisol::UniqueResult found = crisol::unique(flat(x));
  Results results{wrap(found.values), wrap(c.flag(2) ? ops::reshape(found.inverse, x.shape()) : nothing(x))};
  if (c.size() > 3) results.push_back(wrap(c.flag(3) ? found.counts : nothing(x)));
  return results;
}
// (x, axis, sorted, with positions, with counts)
Results unique_slices(const Call& c) {
  const Tensor x = c.tensor(0);
  const int axis = c.axis(1);
  need(x.numel() > 0 && x.numel() / x.size(axis) <= 64, "slices of many elements");  // Each takes a sort.
  const crisol::UniqueResult found = crisol::unique(x, {.axis = axis});
  return {wrap(found.values), wrap(c.flag(3) ? found.inverse : nothing(x)),
          wrap(c.flag(4) ? found.counts : nothing(x))};
}
// (x, with positions, with counts, axis): the first element of each run of equal ones.
Results unique_runs(const Call& c) {
  const Tensor given = c.tensor(0), x = flat(given);
  const std::int64_t n = x.numel();
  need(n > 0 && (c.is_none(3) || given.dim() == 1), "runs of slices");
  const Tensor first = crisol::ones({1}, DType::boolean, x.device());
  const Tensor begins = ops::cat({first, ops::ne(ops::narrow(x, 0, 1, n - 1), ops::narrow(x, 0, 0, n - 1))}, 0);
  const Tensor places = flat(ops::nonzero(begins));
  const Tensor ends = ops::cat(
      {ops::narrow(places, 0, 1, places.numel() - 1), crisol::full({1}, Scalar(n), DType::i64, x.device())}, 0);
  const Tensor runs = ops::sub(ops::cumsum(ops::cast(begins, DType::i64), 0), Scalar(1));
  return {wrap(ops::index_select(x, 0, places)), wrap(c.flag(1) ? ops::reshape(runs, given.shape()) : nothing(x)),
          wrap(c.flag(2) ? ops::sub(ends, places) : nothing(x))};
}

// (x, values, assume_unique, invert, out)
void isin(const Call& c, const Tensor& out) { ops::copy_into(out, crisol::isin(c.tensor(0), c.tensor(1), c.flag(3))); }

// ---- Elements by rank

bool may_have_nan(const Tensor& x) { return crisol::is_floating(x.dtype()); }

// The median: the lower one of two in the middle. NaN is the largest, so it is the last of a sorted list.
Tensor median(const Call& c) {
  const Tensor x = flat(c.tensor(0));
  need(x.numel() > 0, "a median of nothing");
  const Tensor sorted = ops::sort(x, 0).values;
  const Tensor middle = ops::select(sorted, 0, (x.numel() - 1) / 2), last = ops::select(sorted, 0, x.numel() - 1);
  return may_have_nan(x) ? ops::where(ops::isnan(last), last, middle) : ops::clone(middle);
}
// The median of the elements that are not NaN.
Tensor nanmedian(const Call& c) {
  const Tensor x = flat(c.tensor(0));
  need(x.numel() > 0, "a median of nothing");
  const Tensor sorted = ops::sort(x, 0).values;
  if (!may_have_nan(x)) return ops::clone(ops::select(sorted, 0, (x.numel() - 1) / 2));
  const Tensor count = ops::sum(ops::cast(ops::logical_not(ops::isnan(x)), DType::i64), {}, true);
  const Tensor place = ops::maximum(ops::floor_divide(ops::sub(count, Scalar(1)), Scalar(2)), Scalar(0));
  return ops::reshape(ops::index_select(sorted, 0, place), {});
}

// Writes a result to an argument, which gets its size.
void give_into(const Call& c, std::size_t i, const Tensor& result) {
  c.torch(i).resize_(sizes_of(result.shape()));
  ops::copy_into(c.tensor(i), result);
}

// (x, k, axis, keepdim, values, indices): the k-th smallest elements, counted from 1.
Results kth_value(const Call& c) {
  const Tensor x = c.tensor(0);
  const std::int64_t k = c.whole(1);
  need(x.dim() > 0 && k >= 1 && k <= x.size(c.axis(2)), "an element that does not exist");
  const crisol::SortResult sorted = ops::sort(x, c.axis(2));
  const auto give = [&](std::size_t result, const Tensor& all) {
    const Tensor one = ops::narrow(all, c.axis(2), k - 1, 1);
    give_into(c, result, c.flag(3) ? one : ops::squeeze(one, c.axis(2)));
  };
  give(4, sorted.values);
  give(5, sorted.indices);
  return {c.value(4), c.value(5)};
}

// (x, axis, keepdim, values, indices): medians along an axis. A NaN is the median, unless they do not count.
Results medians(const Call& c, bool count_nan) {
  const Tensor x = c.tensor(0);
  need(x.dim() > 0 && x.numel() > 0, "a median of nothing");
  const int axis = c.axis(1);
  const crisol::SortResult sorted = ops::sort(x, axis);
  const std::int64_t n = x.size(axis);
  Tensor place = crisol::full({}, Scalar((n - 1) / 2), DType::i64, x.device());
  if (may_have_nan(x)) {
    const Tensor nan = ops::isnan(sorted.values);
    const Tensor numbers = ops::sum(ops::cast(ops::logical_not(nan), DType::i64), {axis}, true);
    const Tensor middle = ops::maximum(ops::floor_divide(ops::sub(numbers, Scalar(1)), Scalar(2)), Scalar(0));
    place = count_nan ? ops::where(ops::lt(numbers, Scalar(n)), numbers, place) : middle;
  }
  crisol::Shape sizes = x.shape();
  sizes[axis < 0 ? axis + x.dim() : axis] = 1;
  const Tensor at = ops::expand(place, sizes);
  const auto chosen = [&](const Tensor& all) {
    const Tensor one = ops::gather(all, axis, at);
    return c.flag(2) ? one : ops::squeeze(one, axis);
  };
  give_into(c, 3, chosen(sorted.values));
  give_into(c, 4, chosen(sorted.indices));
  return {c.value(3), c.value(4)};
}

// (x, axis, keepdim): the most frequent element, the least of several, and its last place.
std::array<Tensor, 2> mode(const Call& c) {
  const Tensor x = c.tensor(0);
  need(x.dim() > 0 && x.numel() != 0 && x.dtype() != DType::boolean, "the most frequent of no elements");
  const int axis = c.axis(1) < 0 ? c.axis(1) + x.dim() : c.axis(1);
  const std::int64_t n = x.size(axis);
  need(n <= 1024, "the most frequent of more than 1,024 elements");  // Each is compared with each.
  const Tensor rows = ops::contiguous(ops::transpose(x, axis, x.dim() - 1));
  const Tensor equal = ops::eq(ops::unsqueeze(rows, -1), ops::unsqueeze(rows, -2));
  const Tensor counts = ops::sum(ops::cast(equal, DType::i64), {-1});
  // Among the elements in order, the first one that is as frequent as any.
  const crisol::SortResult sorted = ops::sort(rows, -1);
  const Tensor best = ops::argmax(ops::gather(counts, -1, sorted.indices), {-1}, true);
  const Tensor value = ops::gather(sorted.values, -1, best);
  const Tensor places = crisol::arange(0, static_cast<double>(n), 1, DType::i64, x.device());
  const Tensor index = ops::max(ops::where(ops::eq(rows, value), places, Scalar(-1)), {-1}, true);
  const auto given = [&](const Tensor& t) {
    const Tensor kept = ops::transpose(t, axis, x.dim() - 1);
    return c.flag(2) ? kept : ops::squeeze(kept, axis);
  };
  return {given(value), given(index)};
}

}  // namespace

Rows counting_rows() {
  return {
      {"bincount", gives(bincount)},
      {"histc", gives(histogram)},
      {"repeat_interleave.Tensor", gives(repeat_interleave)},
      {"_unique", unique},
      {"_unique2", unique},
      {"unique_dim", unique_slices},
      {"unique_consecutive", unique_runs},
      {"isin.Tensor_Tensor_out", into(isin)},
      {"median", gives(median)},
      {"nanmedian", gives(nanmedian)},
      {"median.dim_values", [](const Call& c) { return medians(c, true); }},
      {"nanmedian.dim_values", [](const Call& c) { return medians(c, false); }},
      {"kthvalue.values", kth_value},
      {"mode",
       [](const Call& c) {
         const auto [values, indices] = mode(c);
         return Results{wrap(ops::clone(values)), wrap(ops::clone(indices))};
       }},
      {"mode.values",
       [](const Call& c) {
         const auto found = mode(c);
         give_into(c, 3, found[0]);
         give_into(c, 4, found[1]);
         return Results{c.value(3), c.value(4)};
       }},
      {"count_nonzero.dim_IntList",
       gives([](const Call& c) { return crisol::count_nonzero(c.tensor(0), c.shape(1)); })},
  };
}

}  // namespace crisol_torch
