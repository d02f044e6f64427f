// Reductions, from tables. dim and keepdim are PyTorch's names, axis and keepdims those of the Array API standard.
#include <limits>

#include "arguments.h"
#include "bindings.h"

namespace crisol::python {

namespace {

using Axes = std::optional<Shape>;

/// What dim=() stands for: in PyTorch all axes, but no axes for any() and all(). axis=() stands for no axes, as in the
/// Array API standard.
enum class EmptyDim { all_axes, no_axes };

struct Reduction {
  const char* name;
  Tensor (*function)(const Tensor&, const Shape&, bool);
  const char* text;
  EmptyDim empty = EmptyDim::all_axes;
};

constexpr Reduction plain[]{
    {"max", &max, "The largest element, or NaN if there is one. Refuses to reduce no elements."},
    {"min", &min, "The smallest element, or NaN if there is one. Refuses to reduce no elements."},
    {"any", &any, "Whether any element differs from 0, as bool.", EmptyDim::no_axes},
    {"all", &all, "Whether all elements differ from 0, as bool.", EmptyDim::no_axes},
    {"logsumexp", &logsumexp, "log(sum(exp(x))) without overflow."},
    {"count_nonzero", &count_nonzero, "The number of elements that are not 0, as int64."},
    {"argmax", &argmax, "The position (int64) of the first largest element. Without an axis it counts in all of x."},
    {"argmin", &argmin, "The position (int64) of the first smallest element. Without an axis it counts in all of x."},
};

struct Accumulation {
  const char* name;
  Tensor (*function)(const Tensor&, const Shape&, bool);
  const char* text;
};

constexpr Accumulation accumulations[]{
    {"mean", &mean, "The mean of float32 or float16; NaN for no elements."},
    {"sum", &sum, "The sum; 0 for no elements. Integers and bool are added as int64 if no dtype is given."},
    {"prod", &prod, "The product; 1 for no elements. Integers and bool are multiplied as int64 if no dtype is given."},
};

struct Deviation {
  const char* name;
  Tensor (*function)(const Tensor&, const Shape&, bool, double);
  const char* text;
};

constexpr Deviation deviations[]{
    {"var", &var, "The variance: sum((x - mean)^2) / max(0, n - correction). correction=0 is that of the elements."},
    {"std", &stddev, "The square root of var()."},
};

/// The axes to reduce, given by either pair of names.
class Reduced {
 public:
  Reduced(const Axes& dim, bool keepdim, const Axes& axis, bool keepdims, EmptyDim empty = EmptyDim::all_axes)
      : axes_(axis ? axis : dim), keep_(keepdims || keepdim) {
    if (dim && dim->empty() && empty == EmptyDim::all_axes) axes_.reset();
    if (axis && dim) throw nb::type_error("axis and dim are the same argument: give one of them");
  }

  /// Calls function(x, axes, keep). The library's empty list means all axes. So for no axes the function reduces a new
  /// axis of size 1.
  template <class Function>
  Tensor run(const Tensor& x, Function&& function) const {
    if (axes_ && axes_->empty()) return function(x.unsqueeze(0), Shape{0}, false);
    return function(x, axes_.value_or(Shape()), keep_);
  }

 private:
  Axes axes_;
  bool keep_;
};

// Defines a reduction as a function and as a method. `middle` are arguments that have a name only.
template <class Function, class... Middle>
void define_reduction(nb::module_& m, TensorClass& tensor, const char* name, const Function& function, const char* text,
                      const Middle&... middle) {
  const auto bind = [&](auto& where, const auto&... first) {
    where.def(name, function, first..., "dim"_a = nb::none(), "keepdim"_a = false, nb::kw_only(), middle...,
              "axis"_a = nb::none(), "keepdims"_a = false, Unlocked(), text);
  };
  bind(m, "x"_a);
  bind(tensor);
}

struct Running {
  const char* name;
  Tensor (*function)(const Tensor&, int, bool);
  const char* text;
};

constexpr Running runnings[]{
    {"cumulative_sum", &cumulative_sum, "The running sum along an axis. include_initial puts a 0 in front."},
    {"cumulative_prod", &cumulative_prod, "The running product along an axis. include_initial puts a 1 in front."},
};

/// The operand of a sum or a product with a result of this type. Numbers with fractions are converted before it, and
/// all numbers if the type is bool. Whole numbers are added in 64 bits, which gives the same lower bits.
Tensor operand_of(const Tensor& x, const std::optional<DType>& dtype) {
  return dtype && (is_floating(*dtype) || is_floating(x.dtype()) || *dtype == DType::boolean) ? x.to(*dtype) : x;
}

/// The axis may be omitted for a tensor of rank 1.
Tensor run_along(const Running& row, const Tensor& x, std::optional<int> axis, const std::optional<DType>& dtype,
                 bool include_initial) {
  if (!axis && x.dim() != 1)
    throw Error(ErrorCode::invalid_argument,
                std::string("[") + row.name + "] axis must be given for a tensor of rank " + std::to_string(x.dim()));
  const Tensor from = operand_of(x, dtype);
  const Tensor y = row.function(from, axis.value_or(0), include_initial);
  return dtype ? y.to(*dtype) : y;
}

Tensor accumulate(const Accumulation& row, const Tensor& x, const Reduced& how, const std::optional<DType>& dtype) {
  const Tensor from = operand_of(x, dtype);
  const Tensor y = how.run(from, row.function);
  return dtype ? y.to(*dtype) : y;
}

}  // namespace

void bind_reductions(nb::module_& m, TensorClass& tensor) {
  for (const Reduction& row : plain)
    define_reduction(
        m, tensor, row.name,
        [row](const Tensor& x, const Axes& dim, bool keepdim, const Axes& axis, bool keepdims) {
          return Reduced(dim, keepdim, axis, keepdims, row.empty).run(x, row.function);
        },
        row.text);
  for (const Accumulation& row : accumulations)
    define_reduction(
        m, tensor, row.name,
        [row](const Tensor& x, const Axes& dim, bool keepdim, const std::optional<DType>& dtype, const Axes& axis,
              bool keepdims) { return accumulate(row, x, Reduced(dim, keepdim, axis, keepdims), dtype); },
        row.text, "dtype"_a = nb::none());
  for (const Running& row : runnings)
    define_along(
        m, row.name,
        [row](const Tensor& x, std::optional<int> axis, const std::optional<DType>& dtype, bool include_initial) {
          return run_along(row, x, axis, dtype, include_initial);
        },
        "x"_a, nb::kw_only(), "axis"_a = nb::none(), "dtype"_a = nb::none(), "include_initial"_a = false, Unlocked(),
        row.text);
  for (const Deviation& row : deviations)
    define_reduction(
        m, tensor, row.name,
        [row](const Tensor& x, const Axes& dim, bool keepdim, double correction, const Axes& axis, bool keepdims) {
          return Reduced(dim, keepdim, axis, keepdims).run(x, [&](const Tensor& t, const Shape& axes, bool keep) {
            return row.function(t, axes, keep, correction);
          });
        },
        row.text, "correction"_a = 0.0);
  define_reduction(
      m, tensor, "norm",
      [](const Tensor& x, const Axes& dim, bool keepdim, double p, const Axes& axis, bool keepdims) {
        return Reduced(dim, keepdim, axis, keepdims).run(x, [p](const Tensor& t, const Shape& axes, bool keep) {
          return norm(t, p, axes, keep);
        });
      },
      "The p-norm of float32 or float16: (sum |x|^p)^(1/p). p may be infinite.", "p"_a = 2.0);
}

}  // namespace crisol::python
