#include "ops/contiguous.h"

namespace crisol::ops {

Contiguous::Contiguous(const Tensor& x) : Contiguous(x, x.defined() ? x.dtype() : DType::f32) {}

Contiguous::Contiguous(const Tensor& x, DType dtype) : tensor_(x) {
  if (!x.defined() || (x.is_contiguous() && x.dtype() == dtype)) return;
  tensor_ = empty(x.shape(), dtype, x.device());
  copy_ = std::make_unique<const std::function<void()>>(prepare_copy(tensor_, x));
}

Contiguous Contiguous::as_is(const Tensor& x) {
  Contiguous operand;
  operand.tensor_ = x;
  return operand;
}

const Tensor& Contiguous::filled() const {
  if (copy_) {
    (*copy_)();
    copy_ = nullptr;
  }
  return tensor_;
}

Contiguous with_unit_stride(const Tensor& x) {
  const Shape& strides = x.strides();
  return strides[x.dim() - 2] == 1 || strides[x.dim() - 1] == 1 ? Contiguous::as_is(x) : Contiguous(x);
}

}  // namespace crisol::ops
