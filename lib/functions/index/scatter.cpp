// Writing by index: replacing elements, and combining elements.
#include <algorithm>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "functions/index/line.h"
#include "functions/index/positions.h"
#include "functions/traced/traced.h"
#include "ops/index/indexing.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;

namespace {

Tensor numbered(const Shape& shape, Device device) {
  return arange(0, static_cast<double>(shape.numel()), 1, DType::i64, device).reshape(shape);
}

/// Whether each element of scatter's source is in the result. It is not if a later element replaces it.
Tensor elements_that_stay(const Shape& shape, int axis, const Tensor& index) {
  const Tensor numbers = numbered(index.shape(), index.device());
  const Tensor places = zeros(shape, DType::i64, index.device());
  return ops::eq(ops::gather(ops::scatter(places, axis, index, numbers), axis, index), numbers);
}

/// The same for the slices of index_copy's source. The result broadcasts to the source.
Tensor slices_that_stay(const Shape& shape, int axis, const Tensor& index) {
  const Tensor line = index.reshape(-1);
  const Tensor numbers = numbered(line.shape(), index.device());
  const int at = axis < 0 ? axis + shape.rank() : axis;
  const Tensor places = zeros({shape[at]}, DType::i64, index.device());
  Shape sizes = Shape::filled(shape.rank(), 1);
  sizes[at] = line.numel();
  return ops::eq(ops::index_select(ops::index_copy(places, 0, line, numbers), 0, line), numbers).reshape(sizes);
}

/// How an op uses the positions of an index: for single elements, or for slices along an axis.
struct ScatterPlaces {
  Tensor index;
  int axis;
  bool slices;

  Tensor read(const Tensor& x) const { return slices ? index_select(x, axis, index) : gather(x, axis, index); }
  Tensor add(const Tensor& x, const Tensor& src) const {
    return slices ? index_add(x, axis, index, src) : scatter_add(x, axis, index, src);
  }
  Tensor multiply(const Tensor& x, const Tensor& src) const {
    return slices ? index_reduce(x, axis, index, src, ScatterReduction::prod)
                  : scatter_reduce(x, axis, index, src, ScatterReduction::prod);
  }
  /// The part of a source that the op uses.
  Tensor used(Tensor src) const {
    for (int i = 0; !slices && i < src.dim(); ++i) src = src.narrow(i, 0, index.size(i));
    return src;
  }
};

/// The gradients for x and src. All elements that are equal to the extreme of a position share its gradient.
Gradients extreme_gradients(const Tensor& dy, const Tensor& x, const Tensor& src, const Tensor& y,
                            const ScatterPlaces& places) {
  const Tensor own = eq(x, y).to(dy.dtype()), others = eq(src, places.read(y)).to(dy.dtype());
  const Tensor share = dy / places.add(own, others);
  return {own * share, others * places.read(share)};
}

/// The gradients for x and src: the product of the other factors. The product cannot be divided by a factor of 0, so
/// such factors are left out. If a position has several such factors, the product without one of them is 0.
Gradients product_gradients(const Tensor& dy, const Tensor& x, const Tensor& src, const Tensor& y,
                            const ScatterPlaces& places) {
  const Tensor own = masked_fill(x, eq(x, 0), 1), is_zero = eq(src, 0);
  const Tensor zeros_of_place = places.add(zeros_like(x), is_zero.to(x.dtype()));
  const Tensor is_only_zero = logical_and(is_zero, eq(places.read(zeros_of_place), 1));
  const Tensor without = places.read(dy * places.multiply(x, masked_fill(src, is_only_zero, 1)));
  const Tensor divided = places.read(dy * y) / masked_fill(src, is_zero, 1);
  return {dy * places.multiply(own, src) / own, where(is_only_zero, without, divided)};
}

/// The gradients of a reduction of x and src.
auto reduction_backward(const Tensor& x, const Tensor& src, ScatterReduction reduction, const ScatterPlaces& places) {
  return [&x, &src, reduction, places](const Tensor& y) {
    return
        [x = Saved(x), src = Saved(src), y = autograd::SavedResult(y), index = Saved(places.index), axis = places.axis,
         slices = places.slices, is_product = reduction == ScatterReduction::prod](const Tensor& dy, Needs) {
          const ScatterPlaces at{index.get(), axis, slices};
          const Tensor part = at.used(src.get());
          Gradients gradients = is_product ? product_gradients(dy, x.get(), part, y.get(), at)
                                           : extreme_gradients(dy, x.get(), part, y.get(), at);
          gradients[1] = grown_to(gradients[1], src.get().shape());
          return gradients;
        };
  };
}

/// Joins each tuple along the last axis of index into one number: the position of the slice in axes [first, first + k)
/// of `shape`. It is -1 if a position is outside its axis.
Tensor places_of_tuples(const char* op, const Shape& shape, int first, const Tensor& index) {
  require(is_whole(index.dtype()), op, "the indices must be ", TypesThat{is_whole}, ", they are ", index.dtype());
  const auto count = static_cast<int>(index.shape().back());
  JoinedPositions joined;
  for (int k = 0; k < count; ++k) {
    const std::int64_t size = shape[first + k];
    joined.add(counted_from_0(index.select(-1, k).to(DType::i64), size), size);
  }
  return joined.get();
}

/// The name of a reduction in graphs.
const char* name_of(ScatterReduction reduction) {
  return reduction == ScatterReduction::prod ? "mul" : (reduction == ScatterReduction::amax ? "max" : "min");
}

/// The sizes of axes [first, end).
Shape sizes_of(const Shape& shape, int first, int end) {
  Shape sizes;
  for (int i = first; i < end; ++i) sizes.push_back(shape[i]);
  return sizes;
}

Shape joined(const Shape& a, const Shape& b) {
  Shape sizes = a;
  for (const std::int64_t size : b) sizes.push_back(size);
  return sizes;
}

void check_tuples(const char* op, const Tensor& x, const Tensor& index, int batch_axes) {
  require(x.defined() && index.defined(), op, "a tensor is undefined");
  require(index.dim() >= 1, op, "the index must have an axis of tuples, its shape is ", index.shape());
  require(batch_axes >= 0 && batch_axes < index.dim(), op, "batch_axes is ", batch_axes, ", the index has shape ",
          index.shape());
  const std::int64_t count = index.shape().back();
  require(count >= 1 && count <= x.dim() - batch_axes, op, "tuples of ", count, " positions for a tensor of shape ",
          x.shape(), " with ", batch_axes, " batch axes");
  for (int i = 0; i < batch_axes; ++i)
    require(x.size(i) == index.size(i), op, "batch axis ", i, " of shapes ", x.shape(), " and ", index.shape());
}

}  // namespace

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  if (const autograd::Autocasts casts("scatter", {x, src}); casts) return scatter(casts(x), axis, index, casts(src));
  if (scalars_and_lines(x, index, src)) return scatter(line(x), axis, line(index), line(src)).reshape(x.shape());
  return call(
      "scatter", {x, src}, ops::scatter(x, axis, index, src),
      [&](Trace& trace, const Tensor& y) { traced::scatter(trace, x, axis, index, src, "none", y); },
      [&] {
        return [index = Saved(index), shape = src.shape(), axis](const Tensor& dy, Needs needs) {
          Gradients gradients(2);
          const Tensor& at = index.get();
          const Tensor nothing = zeros(at.shape(), dy.dtype(), dy.device());
          if (needs[0]) gradients[0] = scatter(dy, axis, at, nothing);
          if (needs[1])
            gradients[1] =
                grown_to(where(elements_that_stay(dy.shape(), axis, at), gather(dy, axis, at), nothing), shape);
          return gradients;
        };
      });
}

Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src, ScatterReduction reduction) {
  if (reduction == ScatterReduction::sum) return scatter_add(x, axis, index, src);
  if (scalars_and_lines(x, index, src))
    return scatter_reduce(line(x), axis, line(index), line(src), reduction).reshape(x.shape());
  const auto note = [&](Trace& trace, const Tensor& y) {
    traced::scatter(trace, x, axis, index, src, name_of(reduction), y);
  };
  return call("scatter_reduce", {x, src}, ops::scatter_reduce(x, axis, index, src, reduction), note,
              reduction_backward(x, src, reduction, {index, axis, false}));
}

Tensor index_copy(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  if (const autograd::Autocasts casts("index_copy", {x, src}); casts)
    return index_copy(casts(x), axis, index, casts(src));
  if (scalars_and_lines(x, src)) return index_copy(line(x), axis, index, line(src)).reshape(x.shape());
  const auto note = [&](Trace& trace, const Tensor& y) { traced::index_copy(trace, x, axis, index, src, "none", y); };
  return call("index_copy", {x, src}, ops::index_copy(x, axis, index, src), note, [&] {
    return [index = Saved(index), shape = src.shape(), axis](const Tensor& dy, Needs needs) {
      Gradients gradients(2);
      const Tensor& at = index.get();
      const Tensor nothing = zeros(shape, dy.dtype(), dy.device());
      if (needs[0]) gradients[0] = index_copy(dy, axis, at, nothing);
      if (needs[1]) gradients[1] = where(slices_that_stay(dy.shape(), axis, at), index_select(dy, axis, at), nothing);
      return gradients;
    };
  });
}

Tensor index_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src, ScatterReduction reduction) {
  if (reduction == ScatterReduction::sum) return index_add(x, axis, index, src);
  if (scalars_and_lines(x, src)) return index_reduce(line(x), axis, index, line(src), reduction).reshape(x.shape());
  const auto note = [&](Trace& trace, const Tensor& y) {
    traced::index_copy(trace, x, axis, index, src, name_of(reduction), y);
  };
  return call("index_reduce", {x, src}, ops::index_reduce(x, axis, index, src, reduction), note,
              reduction_backward(x, src, reduction, {index, axis, true}));
}

Tensor gather_nd(const Tensor& x, const Tensor& index, int batch_axes) {
  constexpr const char* op = "gather_nd";
  check_tuples(op, x, index, batch_axes);
  const int end = batch_axes + static_cast<int>(index.shape().back());
  const Shape batch = sizes_of(x.shape(), 0, batch_axes), picked = sizes_of(index.shape(), 0, index.dim() - 1);
  const Shape rest = sizes_of(x.shape(), end, x.dim());
  const std::int64_t slices = sizes_of(x.shape(), batch_axes, end).numel(), batches = batch.numel();
  Tensor place = places_of_tuples(op, x.shape(), batch_axes, index);
  if (batches > 1) {
    // The slices of all batches are numbered consecutively.
    const Tensor start = ops::mul(numbered({batches, 1}, index.device()), slices);
    place = place.reshape({batches, picked.numel() / batches});
    place = ops::where(ops::lt(place, 0), -1, ops::add(place, start));
  }
  const Tensor rows = x.reshape({batches * slices, rest.numel()});
  const ops::IndexScope scope(op, runtime::FaultKind::joined);
  return index_select(rows, 0, place.reshape({picked.numel()})).reshape(joined(picked, rest));
}

Tensor scatter_nd(const Tensor& x, const Tensor& index, const Tensor& src, std::optional<ScatterReduction> reduction) {
  constexpr const char* op = "scatter_nd";
  check_tuples(op, x, index, 0);
  require(src.defined(), op, "a tensor is undefined");
  const auto end = static_cast<int>(index.shape().back());
  const Shape rest = sizes_of(x.shape(), end, x.dim()), picked = sizes_of(index.shape(), 0, index.dim() - 1);
  require(src.shape() == joined(picked, rest), op, "the source must have shape ", joined(picked, rest), ", it has ",
          src.shape());
  const Tensor place = places_of_tuples(op, x.shape(), 0, index).reshape({picked.numel()});
  const Tensor rows = x.reshape({sizes_of(x.shape(), 0, end).numel(), rest.numel()});
  const Tensor slices = src.reshape({picked.numel(), rest.numel()});
  const ops::IndexScope scope(op, runtime::FaultKind::joined);
  const Tensor y = reduction ? index_reduce(rows, 0, place, slices, *reduction) : index_copy(rows, 0, place, slices);
  return y.reshape(x.shape());
}

}  // namespace crisol
