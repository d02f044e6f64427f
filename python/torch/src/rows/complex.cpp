#include "complex.h"

#include "memory.h"

namespace crisol_torch {

namespace ops = crisol::ops;
using crisol::Tensor;

Parts parts_of(const at::Tensor& x) {
  if (!at::isComplexType(x.scalar_type())) return {tensor_of(x), {}};
  need(!x.is_conj() && !x.is_neg(), "the library has no dtype for a tensor");
  const Tensor both = tensor_of(at::view_as_real(x));
  return {ops::select(both, -1, 0), ops::select(both, -1, 1)};
}

namespace {

// Writes a complex result, which is the last argument of a call. PyTorch gives some ops an empty one.
Results write(const Call& c, const Tensor& real, const Tensor& imaginary) {
  const at::Tensor result = c.torch(c.size() - 1);
  if (result.numel() == 0 && real.numel() != 0) result.resize_(sizes_of(real.shape()));
  const Parts out = parts_of(result);
  need(out.imaginary.defined(), "a result that is not complex");
  ops::copy_into(out.real, real);
  ops::copy_into(out.imaginary, imaginary);
  return {c.value(c.size() - 1)};
}

Parts parts_at(const Call& c, std::size_t i) {
  need(c.value(i).isTensor(), "a number beside complex tensors");
  return parts_of(c.torch(i));
}

// (x, out), or (x) in place: a clone, because out may be x.
Results conjugate(const Call& c) {
  const Parts x = parts_at(c, 0);
  need(x.imaginary.defined(), "the conjugate of real numbers");
  return write(c, ops::clone(x.real), ops::neg(x.imaginary));
}

// (length, angle, out)
Results polar(const Call& c) {
  const Tensor length = c.tensor(0), angle = c.tensor(1);
  return write(c, ops::mul(length, ops::cos(angle)), ops::mul(length, ops::sin(angle)));
}

}  // namespace

Results multiply_complex(const Call& c) {
  const Parts a = parts_at(c, 0), b = parts_at(c, 1);
  if (!b.imaginary.defined()) return write(c, ops::mul(a.real, b.real), ops::mul(a.imaginary, b.real));
  if (!a.imaginary.defined()) return write(c, ops::mul(a.real, b.real), ops::mul(a.real, b.imaginary));
  return write(c, ops::sub(ops::mul(a.real, b.real), ops::mul(a.imaginary, b.imaginary)),
               ops::addcmul(ops::mul(a.real, b.imaginary), a.imaginary, b.real));
}

Results add_complex(const Call& c, double sign) {
  const Parts a = parts_at(c, 0), b = parts_at(c, 1);
  const double alpha = sign * c.number(2);
  need(a.imaginary.defined() && b.imaginary.defined(), "a sum of real and complex numbers");
  const auto sum = [&](const Tensor& x, const Tensor& y) { return ops::addcmul(x, y, 1.0, alpha); };
  return write(c, sum(a.real, b.real), sum(a.imaginary, b.imaginary));
}

Run or_complex(Run real, Run complex) {
  return [real = std::move(real), complex = std::move(complex)](const Call& c) {
    return at::isComplexType(c.torch(c.size() - 1).scalar_type()) ? complex(c) : real(c);
  };
}

Rows complex_rows() {
  return {
      {"complex.out", [](const Call& c) { return write(c, c.tensor(0), c.tensor(1)); }},
      {"conj_physical.out", conjugate},
      {"conj_physical_", conjugate},
      {"polar.out", polar},
  };
}

}  // namespace crisol_torch
