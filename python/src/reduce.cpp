// Reductions, from one table. axis and keepdims are the names of the Array API standard, dim and keepdim PyTorch's.
#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

namespace {

using Axes = std::optional<Shape>;

struct Reduction {
  const char* name;
  Tensor (*function)(const Tensor&, const Shape&, bool);
  const char* text;
};

constexpr Reduction reductions[]{
    {"mean", &mean, "The mean of float32 or float16; NaN for no elements."},
    {"max", &max, "The largest element, or NaN if there is one."},
    {"min", &min, "The smallest element, or NaN if there is one."},
    {"any", &any, "Whether any element differs from 0, as bool."},
    {"all", &all, "Whether all elements differ from 0, as bool."},
    {"logsumexp", &logsumexp, "log(sum(exp(x))) without overflow."},
};

/// The Array API's axis and keepdims, or PyTorch's names for them.
struct Reduced {
  Reduced(const Axes& axis, const Axes& dim, bool keepdims, bool keepdim)
      : axes(axis ? axis : dim), keep(keepdims || keepdim) {
    if (axis && dim) throw nb::type_error("axis and dim are the same argument: give one of them");
  }

  /// An empty tuple of axes reduces nothing. The library's empty list means all axes.
  bool nothing() const { return axes && axes->empty(); }

  Axes axes;
  bool keep;
};

Tensor reduce(const Reduction& row, const Tensor& x, const Reduced& how) {
  // Without axes the function goes over an axis of size 1, so that it has its rules for dtypes.
  if (how.nothing()) return row.function(x.unsqueeze(0), {0}, false);
  return row.function(x, how.axes.value_or(Shape()), how.keep);
}

template <class Where>
void bind_row(Where& where, const Reduction& row) {
  where.def(
      row.name,
      [row](const Tensor& x, const Axes& axis, bool keepdims, const Axes& dim, bool keepdim) {
        return reduce(row, x, Reduced(axis, dim, keepdims, keepdim));
      },
      "x"_a, "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(), "dim"_a = nb::none(), "keepdim"_a = false,
      Unlocked(), row.text);
}

}  // namespace

void bind_reductions(nb::module_& m, TensorClass& tensor) {
  for (const Reduction& row : reductions) {
    bind_row(m, row);
    (void)tensor;
  }
}

}  // namespace crisol::python
