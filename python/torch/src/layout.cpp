// Filling, joining and moving elements.
#include <cmath>

#include "call.h"
#include "crisol/functions/arrange.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::DType;
using crisol::Tensor;

// (tensors, axis, out). PyTorch leaves out tensors of shape (0), and converts the others to one dtype.
void cat(const Call& c, const Tensor& out) {
  std::vector<Tensor> parts;
  for (const Tensor& part : c.tensors(0)) {
    if (part.dim() == 1 && part.numel() == 0 && out.dim() != 1) continue;
    parts.push_back(part.dtype() == out.dtype() ? part : ops::cast(part, out.dtype()));
  }
  need(!parts.empty(), "nothing to join");
  ops::cat_into(out, parts, c.axis(1));
}

void fill(const Call& c, const Tensor& x) {
  if (c.value(1).isScalar()) return ops::fill_into(x, c.scalar(1));
  const at::Tensor value = c.torch(1);
  need(value.dim() == 0, "a value of several elements");
  if (value.is_cpu()) return ops::fill_into(x, number_of(value));
  ops::copy_into(x, tensor_of(value));
}

// A factory gives its result the size itself.
Results made(const Call& c, at::IntArrayRef sizes, const std::function<Tensor(const Tensor& out)>& make) {
  const at::Tensor out = c.torch(c.size() - 1);
  if (out.sizes() != sizes) out.resize_(sizes);
  const Tensor target = tensor_of(out);
  ops::copy_into(target, make(target));
  return {c.value(c.size() - 1)};
}

// (start, end, step, out)
Results arange(const Call& c) {
  const crisol::Scalar start = c.scalar(0), end = c.scalar(1), step = c.scalar(2);
  const bool whole = !is_floating(start.dtype()) && !is_floating(end.dtype()) && !is_floating(step.dtype());
  const std::optional<DType> dtype = dtype_of(c.torch(3).scalar_type());
  need(dtype && (whole || is_floating(*dtype)), "whole numbers in steps of a fraction");
  const double steps = (end.as_double() - start.as_double()) / step.as_double();
  need(step.as_double() != 0 && std::isfinite(steps) && steps >= 0, "the range is not valid");
  return made(c, {static_cast<std::int64_t>(std::ceil(steps))}, [&](const Tensor& out) {
    return crisol::arange(start.as_double(), end.as_double(), step.as_double(), out.dtype(), out.device());
  });
}

// (start, end, steps, out)
Results linspace(const Call& c) {
  const std::optional<DType> dtype = dtype_of(c.torch(3).scalar_type());
  need(dtype && is_floating(*dtype) && c.whole(2) >= 0, "whole numbers at equal distances");
  return made(c, {c.whole(2)}, [&](const Tensor& out) {
    return crisol::linspace(c.number(0), c.number(1), c.whole(2), out.dtype(), out.device());
  });
}

Results eye(const Call& c) {
  const std::int64_t rows = c.whole(0), columns = c.size() == 3 ? c.whole(1) : rows;
  need(rows >= 0 && columns >= 0, "a negative size");
  return made(c, {rows, columns},
              [&](const Tensor& out) { return crisol::eye(rows, columns, out.dtype(), out.device()); });
}

}  // namespace

Rows layout_rows() {
  return {
      {"fill_.Scalar", in_place(fill)},
      {"fill_.Tensor", in_place(fill)},
      {"zero_", in_place([](const Call&, const Tensor& x) { ops::fill_into(x, 0); })},
      {"cat.out", into(cat)},
      {"flip", gives([](const Call& c) { return ops::flip(c.tensor(0), c.shape(1)); })},
      {"roll", gives([](const Call& c) { return crisol::roll(c.tensor(0), c.shape(1), c.shape(2)); })},
      {"tril.out", into([](const Call& c, const Tensor& out) { ops::tril_into(out, c.tensor(0), c.whole(1)); })},
      {"triu.out", into([](const Call& c, const Tensor& out) { ops::triu_into(out, c.tensor(0), c.whole(1)); })},
      {"arange.start_out", arange},
      {"linspace.out", linspace},
      {"eye.out", eye},
      {"eye.m_out", eye},
  };
}

}  // namespace crisol_torch
