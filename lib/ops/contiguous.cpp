#include "ops/contiguous.h"

#include "crisol/ops/copy.h"

namespace crisol::ops {

void resolve_copy(const Tensor& dst, const Tensor& src) {
  if (runtime::in_dry_run()) return;
  const runtime::DryRun rehearsal(runtime::DryRun::Kernels::all);
  copy_into(dst, src);
}

Contiguous::Contiguous(const Tensor& x) : Contiguous(x, x.defined() ? x.dtype() : DType::f32) {}

Contiguous::Contiguous(const Tensor& x, DType dtype) : tensor_(x) {
  if (!x.defined() || (x.is_contiguous() && x.dtype() == dtype)) return;
  tensor_ = empty(x.shape(), dtype, x.device());
  source_ = x;
  resolve_copy(tensor_, source_);
}

Contiguous Contiguous::as_is(const Tensor& x) {
  Contiguous operand;
  operand.tensor_ = x;
  return operand;
}

const Tensor& Contiguous::filled() const {
  if (source_.defined()) {
    copy_into(tensor_, source_);
    source_ = Tensor();
  }
  return tensor_;
}

Contiguous with_unit_stride(const Tensor& x) {
  const Shape& strides = x.strides();
  return strides[x.dim() - 2] == 1 || strides[x.dim() - 1] == 1 ? Contiguous::as_is(x) : Contiguous(x);
}

}  // namespace crisol::ops
