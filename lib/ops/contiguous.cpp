#include "ops/contiguous.h"

#include <utility>

namespace crisol::ops {

namespace {

/// Puts a new contiguous tensor in the place of x. The function that it returns copies the elements.
std::unique_ptr<const std::function<void()>> replace_by_copy(Tensor& x, DType dtype) {
  const Tensor from = std::exchange(x, empty(x.shape(), dtype, x.device()));
  return std::make_unique<const std::function<void()>>(prepare_copy(x, from));
}

}  // namespace

Contiguous::Contiguous(const Tensor& x) : tensor_(x) {
  if (x.defined() && !x.is_contiguous()) copy_ = replace_by_copy(tensor_, x.dtype());
}

Contiguous::Contiguous(const Tensor& x, DType dtype) : tensor_(x) {
  if (x.defined() && (x.dtype() != dtype || !x.is_contiguous())) copy_ = replace_by_copy(tensor_, dtype);
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
