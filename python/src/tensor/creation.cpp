// Functions that make tensors of given values.
#include <cmath>
#include <limits>

#include "arguments.h"

namespace crisol::python {

namespace {

using OptionalType = std::optional<DType>;
using OptionalDevice = std::optional<Device>;

Device or_default(const OptionalDevice& device) { return device ? *device : Device(); }

/// Defines f(shape, *, dtype, device) and f(*sizes, dtype, device).
void define(nb::module_& m, const char* name, Tensor (*function)(const Shape&, DType, Device), const char* text) {
  m.def(
      name,
      [function](const Shape& shape, const OptionalType& dtype, const OptionalDevice& device) {
        return function(shape, dtype.value_or(default_dtype()), or_default(device));
      },
      "shape"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), Unlocked(), text);
  const std::string signature =
      "def " + std::string(name) + "(*sizes: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  m.def(
      name,
      [function](const nb::args& sizes, const OptionalType& dtype, const OptionalDevice& device) {
        const Shape shape = shape_of_sizes(sizes);
        return unlocked([&] { return function(shape, dtype.value_or(default_dtype()), or_default(device)); });
      },
      "sizes"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), nb::sig(signature.c_str()),
      "The same with the sizes as separate arguments.");
}

/// Defines f(x, *, dtype, device).
void define_like(nb::module_& m, const char* name, Tensor (*function)(const Shape&, DType, Device), const char* text) {
  m.def(
      name,
      [function](const Tensor& x, const OptionalType& dtype, const OptionalDevice& device) {
        return function(x.shape(), dtype.value_or(x.dtype()), device ? *device : x.device());
      },
      "x"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), Unlocked(), text);
}

Tensor full_of(const Shape& shape, const Scalar& value, const OptionalType& dtype, const OptionalDevice& device) {
  return full(shape, value, dtype.value_or(is_floating(value.dtype()) ? default_dtype() : value.dtype()),
              or_default(device));
}

/// The numbers start, start + step, … They are computed as doubles, or exactly in 64 bits if all three are whole
/// numbers.
Tensor arange_of(const Scalar& first, const std::optional<Scalar>& last, const Scalar& step, const OptionalType& dtype,
                 const OptionalDevice& device) {
  const Scalar start = last ? first : Scalar(0), stop = last ? *last : first;
  const bool whole = start.dtype() != DType::f32 && stop.dtype() != DType::f32 && step.dtype() != DType::f32;
  const DType type = dtype.value_or(whole ? DType::i64 : default_dtype());
  const double count = std::ceil((stop.as_double() - start.as_double()) / step.as_double());
  // If the end is on the wrong side of the start, there are no elements, as in Python's range.
  if (step.as_double() != 0 && count <= 0) return empty({0}, type, or_default(device));
  if (!whole || is_floating(type))
    return arange(start.as_double(), stop.as_double(), step.as_double(), type, or_default(device));
  const Tensor steps = arange(0, count, step.as_double() == 0 ? 0 : 1, DType::i64, or_default(device));
  return add(mul(steps, step), start).to(type);
}

Tensor linspace_of(double start, double stop, std::int64_t num, const OptionalType& dtype, const OptionalDevice& device,
                   bool endpoint) {
  const DType type = dtype.value_or(default_dtype());
  if (endpoint || num < 1) return linspace(start, stop, num, type, or_default(device));
  return linspace(start, stop, num + 1, type, or_default(device)).narrow(0, 0, num);
}

/// A Python int of any size, clamped to 64 bits.
std::int64_t clamped(const nb::int_& number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow == 0 ? value : overflow * std::numeric_limits<std::int64_t>::max();
}

/// A matrix with ones on a diagonal; k counts from the main diagonal to the right.
Tensor eye_of(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k, const OptionalType& dtype,
              const OptionalDevice& device) {
  const DType type = dtype.value_or(default_dtype());
  if (k == 0) return eye(rows, columns, type, or_default(device));
  const std::int64_t width = columns.value_or(rows);
  const Tensor row = arange(0, static_cast<double>(rows), 1, DType::i64, or_default(device)).unsqueeze(1);
  const Tensor column = arange(0, static_cast<double>(width), 1, DType::i64, or_default(device));
  return eq(sub(column, row), k).to(type);
}

}  // namespace

void bind_creation(nb::module_& m) {
  define(m, "empty", &empty, "A tensor with undefined contents. The default dtype is taken unless one is given.");
  define(m, "zeros", &zeros, "A tensor of zeros. The default dtype is taken unless one is given.");
  define(m, "ones", &ones, "A tensor of ones. The default dtype is taken unless one is given.");
  define_like(m, "empty_like", &empty, "A tensor with undefined contents, with the shape, dtype and device of x.");
  define_like(m, "zeros_like", &zeros, "Zeros with the shape, dtype and device of x.");
  define_like(m, "ones_like", &ones, "Ones with the shape, dtype and device of x.");
  m.def("full", &full_of, "shape"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
        Unlocked(),
        "A tensor with one value everywhere: bool, int64 or the default dtype, or the dtype that is given.");
  m.def(
      "full_like",
      [](const Tensor& x, const Scalar& value, const OptionalType& dtype, const OptionalDevice& device) {
        return full(x.shape(), value, dtype.value_or(x.dtype()), device ? *device : x.device());
      },
      "x"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), Unlocked(),
      "One value everywhere, with the shape, dtype and device of x.");
  m.def("arange", &arange_of, "start"_a, "stop"_a = nb::none(), "step"_a = 1, nb::kw_only(), "dtype"_a = nb::none(),
        "device"_a = nb::none(), Unlocked(),
        "The numbers start, start + step, … below stop: ceil((stop - start) / step) elements. arange(n) starts at 0. "
        "int64 if all arguments are whole, otherwise of the default dtype.");
  m.def("linspace", &linspace_of, "start"_a, "stop"_a, "num"_a, nb::kw_only(), "dtype"_a = nb::none(),
        "device"_a = nb::none(), "endpoint"_a = true, Unlocked(),
        "`num` numbers at equal distances from start to stop. Without endpoint, stop is the number that would follow.");
  m.def(
      "eye",
      [](std::int64_t rows, std::optional<std::int64_t> columns, const nb::int_& k, const OptionalType& dtype,
         const OptionalDevice& device) {
        const std::int64_t diagonal = clamped(k);  // A diagonal far outside the matrix has no elements.
        const nb::gil_scoped_release free;
        return eye_of(rows, columns, diagonal, dtype, device);
      },
      "n_rows"_a, "n_cols"_a = nb::none(), nb::kw_only(), "k"_a = 0, "dtype"_a = nb::none(), "device"_a = nb::none(),
      "A matrix (n_rows, n_cols) with 1 on a diagonal and 0 elsewhere. k moves the diagonal to the right.");
}

}  // namespace crisol::python
