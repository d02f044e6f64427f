// Reductions, scans and norms.
#include "call.h"
#include "crisol/dtype_table.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Shape;
using crisol::Tensor;

using Reduction = void (*)(const Tensor&, const Tensor&, const Shape&, bool);

// The input of a reduction or a scan in the dtype that the caller asks for, which is the dtype of the result.
Tensor converted(const Call& c, std::size_t type, DType result) {
  const Tensor x = c.tensor(0);
  return c.is_none(type) ? x : ops::cast(x, result);
}

// NAME.out(x, axes, keepdim, out). PyTorch gives an empty list of axes another meaning in some ops.
Run reduction(Reduction f) {
  return into([f](const Call& c, const Tensor& out) { f(out, c.tensor(0), c.shape(1), c.flag(2)); });
}
// NAME.out(x, axes, keepdim, dtype, out)
Run typed_reduction(Reduction f) {
  return into([f](const Call& c, const Tensor& out) { f(out, converted(c, 3, out.dtype()), c.shape(1), c.flag(2)); });
}
// NAME.out(x, axis or nothing, keepdim, out)
Run axis_reduction(Reduction f) {
  return into([f](const Call& c, const Tensor& out) {
    f(out, c.tensor(0), c.is_none(1) ? Shape() : Shape(c.whole(1)), c.flag(2));
  });
}
// NAME(x)
Run whole_reduction(Tensor (*f)(const Tensor&, const Shape&, bool)) {
  return gives([f](const Call& c) { return f(c.tensor(0), {}, false); });
}
// NAME.all_out(x, out)
Run whole_reduction_into(Reduction f) {
  return into([f](const Call& c, const Tensor& out) { f(out, c.tensor(0), {}, false); });
}
Run truth_of_axes(Reduction f) {
  return into([f](const Call& c, const Tensor& out) {
    const Shape axes = c.shape(1);
    need(c.is_none(1) || !axes.empty(), "an empty list of axes");
    f(out, c.tensor(0), axes, c.flag(2));
  });
}
// NAME.dim(x, axis, keepdim, values, indices)
Run extremes(void (*f)(const Tensor&, const Tensor&, const Tensor&, int, bool)) {
  return [f](const Call& c) {
    f(c.tensor(3), c.tensor(4), c.tensor(0), c.axis(1), c.flag(2));
    return Results{c.value(3), c.value(4)};
  };
}
// NAME.out(x, axis, dtype, out)
Run scan(void (*f)(const Tensor&, const Tensor&, int)) {
  return into([f](const Call& c, const Tensor& out) { f(out, converted(c, 2, out.dtype()), c.axis(1)); });
}

// NAME.correction(x, axes, correction, keepdim)
Tensor spread(const Call& c, Tensor (*f)(const Tensor&, const Shape&, bool, double)) {
  return f(c.tensor(0), c.shape(1), c.flag(3), c.scalar(2, 1).as_double());
}
Run spread(Tensor (*f)(const Tensor&, const Shape&, bool, double)) {
  return gives([f](const Call& c) { return spread(c, f); });
}
Run spread_and_mean(Tensor (*f)(const Tensor&, const Shape&, bool, double)) {
  return [f](const Call& c) {
    return Results{wrap(spread(c, f)), wrap(ops::mean(c.tensor(0), c.shape(1), c.flag(3)))};
  };
}
Run spread_into(void (*f)(const Tensor&, const Tensor&, const Shape&, bool, double)) {
  return into([f](const Call& c, const Tensor& out) {
    f(out, c.tensor(0), c.shape(1), c.flag(3), c.scalar(2, 1).as_double());
  });
}

// ---- Distances of all rows of two matrices

// The differences of rows, (…, rows of a, rows of b, columns).
Tensor differences(const Call& c, std::size_t i) {
  const Tensor a = c.tensor(i), b = c.tensor(i + 1);
  need(a.dim() == b.dim() && a.numel() * b.size(-2) <= std::int64_t{1} << 27, "distances of many rows");
  return ops::sub(ops::unsqueeze(a, -2), ops::unsqueeze(b, -3));
}
// (a, b, p, how)
Tensor distances(const Call& c) { return ops::norm(differences(c, 0), c.number(2), {-1}); }
// (dy, a, b, p, the distances)
Tensor distances_backward(const Call& c) {
  return ops::sum(ops::norm_backward(c.tensor(0), differences(c, 1), c.tensor(4), c.number(3), {-1}), {-2});
}

// (x, axes, keepdim, type)
Tensor sum_of_numbers(const Call& c) {
  const Tensor x = c.tensor(0);
  const Tensor numbers = crisol::is_floating(x.dtype()) ? ops::where(ops::isnan(x), 0.0, x) : x;
  return ops::sum(c.is_none(3) ? numbers : ops::cast(numbers, *dtype_of(*c.type(3))), c.shape(1), c.flag(2));
}

// (x, axis, keepdim, min, max)
Results least_and_largest(const Call& c) {
  const Shape axes = c.is_none(1) ? Shape() : Shape(c.whole(1));
  ops::min_into(c.tensor(3), c.tensor(0), axes, c.flag(2));
  ops::max_into(c.tensor(4), c.tensor(0), axes, c.flag(2));
  return {c.value(3), c.value(4)};
}

Tensor trace(const Call& c) {
  const Tensor x = c.tensor(0);
  need(x.dim() == 2, "the trace of other than a matrix");
  const std::int64_t n = std::min(x.size(0), x.size(1));
  return ops::sum(ops::as_strided(x, Shape(n), Shape(x.strides()[0] + x.strides()[1]), x.offset()));
}

// ---- weight_norm: w = v g / norms. The norms are along all axes but one.

Shape other_axes(const Tensor& x, std::int64_t axis) {
  Shape axes;
  for (int i = 0; i < x.dim(); ++i)
    if (i != axis) axes.push_back(i);
  return axes;
}
// An operand in the type that kernels compute it in.
Tensor computed(const Call& c, std::size_t i) {
  const Tensor x = c.tensor(i);
  return ops::cast(x, crisol::value_type(x.dtype()));
}
// (v, g, axis)
Results weight_norm(const Call& c) {
  const Tensor v = computed(c, 0), norms = ops::norm(v, 2, other_axes(v, c.whole(2)), true);
  return {wrap(ops::cast(ops::mul(v, ops::div(computed(c, 1), norms)), c.tensor(0).dtype())), wrap(norms)};
}
// (dw, v, g, norms, axis)
Results weight_norm_backward(const Call& c) {
  const Tensor dw = computed(c, 0), v = computed(c, 1), norms = c.tensor(3);
  const Tensor dg = ops::div(ops::sum(ops::mul(dw, v), other_axes(v, c.whole(4)), true), norms);
  const Tensor along = ops::mul(v, ops::div(dg, norms));
  const Tensor dv = ops::mul(ops::sub(dw, along), ops::div(computed(c, 2), norms));
  return {wrap(ops::cast(dv, c.tensor(1).dtype())), wrap(ops::cast(dg, c.tensor(2).dtype()))};
}

}  // namespace

Rows reduction_rows() {
  return {
      {"sum.IntList_out", typed_reduction(ops::sum_into)},
      {"mean.out", typed_reduction(ops::mean_into)},
      {"prod.int_out", into([](const Call& c, const Tensor& out) {
         ops::prod_into(out, converted(c, 3, out.dtype()), Shape(c.whole(1)), c.flag(2));
       })},
      {"prod", gives([](const Call& c) {
         const Tensor x = c.tensor(0);
         return ops::prod(c.is_none(1) ? x : ops::cast(x, *dtype_of(*c.type(1))));
       })},
      {"max", whole_reduction(ops::max)},
      {"min", whole_reduction(ops::min)},
      {"amax.out", reduction(ops::max_into)},
      {"amin.out", reduction(ops::min_into)},
      {"max.dim_max", extremes(ops::max_with_indices_into)},
      {"min.dim_min", extremes(ops::min_with_indices_into)},
      {"argmax.out", axis_reduction(ops::argmax_into)},
      {"argmin.out", axis_reduction(ops::argmin_into)},
      {"any.out", axis_reduction(ops::any_into)},
      {"all.out", axis_reduction(ops::all_into)},
      {"any.dims_out", truth_of_axes(ops::any_into)},
      {"all.dims_out", truth_of_axes(ops::all_into)},
      {"any.all_out", whole_reduction_into(ops::any_into)},
      {"all.all_out", whole_reduction_into(ops::all_into)},
      {"var.correction", spread(ops::var)},
      {"std.correction", spread(ops::stddev)},
      {"var.correction_out", spread_into(ops::var_into)},
      {"std.correction_out", spread_into(ops::stddev_into)},
      {"var_mean.correction", spread_and_mean(ops::var)},
      {"std_mean.correction", spread_and_mean(ops::stddev)},
      {"linalg_vector_norm.out", into([](const Call& c, const Tensor& out) {
         ops::norm_into(out, converted(c, 4, out.dtype()), c.number(1), c.shape(2), c.flag(3));
       })},
      {"norm.out", into([](const Call& c, const Tensor& out) {
         ops::norm_into(out, c.tensor(0), c.scalar(1, 2).as_double(), c.shape(2), c.flag(3));
       })},
      {"nansum", gives(sum_of_numbers)},
      {"aminmax.out", least_and_largest},
      {"trace", gives(trace)},
      {"_cdist_forward", gives(distances)},
      {"_cdist_backward", gives(distances_backward)},
      {"logsumexp", gives([](const Call& c) { return ops::logsumexp(c.tensor(0), c.shape(1), c.flag(2)); })},
      {"cumsum.out", scan(ops::cumsum_into)},
      {"cumprod.out", scan(ops::cumprod_into)},
      {"_weight_norm_interface", weight_norm},
      {"_weight_norm_interface_backward", weight_norm_backward},
      {"_logcumsumexp", gives([](const Call& c) { return ops::logcumsumexp(c.tensor(0), c.axis(1)); })},
  };
}

}  // namespace crisol_torch
