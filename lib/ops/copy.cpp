// contiguous, clone, cast, copy_into, fill_into. Copies between two dtypes or layouts are pointwise programs whose
// expression is the element itself; contiguous ones are left to OpenCL.
#include "crisol/ops/copy.h"

#include <vector>

#include "base/text.h"
#include "ops/collapse.h"
#include "ops/pointwise_program.h"
#include "ops/transpose_copy.h"
#include "runtime/transfer.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

constexpr std::size_t dtype_count = 6;

std::uint64_t byte_position(const Tensor& x) {
  const TensorImpl& impl = *x.impl();
  return impl.storage->base + static_cast<std::uint64_t>(impl.offset) * size_of(impl.dtype);
}

const PointwiseProgram& program_of(DType from, DType to) {
  static ProgramsByDType programs;
  const std::size_t index = static_cast<std::size_t>(from) * dtype_count + static_cast<std::size_t>(to);
  const bool to_bool = to == DType::boolean && from != DType::boolean;
  return programs.get(index, [&] {
    return new PointwiseProgram({"copy", "x", to_bool ? "x != (T)(0) ? (T)(1) : (T)(0)" : "x"}, {from}, to);
  });
}

const PointwiseProgram& fill_program(DType dtype) {
  static ProgramsByDType programs;
  return programs.get(static_cast<std::size_t>(dtype), [&] {
    return new PointwiseProgram({"fill_into", "| value", "(T)(value)"}, {}, dtype);
  });
}

void copy_bytes(const Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0) return;
  // OpenCL refuses to copy a range onto itself.
  if (dst.shares_storage_with(src) && byte_position(dst) == byte_position(src)) return;
  dst.impl()->storage->written();
  runtime::copy(*src.impl()->storage->block, byte_position(src), *dst.impl()->storage->block, byte_position(dst),
                static_cast<std::size_t>(dst.numel()) * size_of(dst.dtype()));
}

// The elements of a tensor on another device, contiguous on this one.
Tensor through_host(const Tensor& src, Device device) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(src.numel()) * size_of(src.dtype()));
  src.read_bytes(bytes.data());
  return from_bytes(bytes.data(), src.shape(), src.dtype(), device);
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
  require(dst.defined() && src.defined(), "copy_into", "a tensor is undefined");
  require_no_overlap("copy_into", dst);
  require(broadcast_shape("copy_into", dst.shape(), src.shape()) == dst.shape(), "copy_into", "shape ", src.shape(),
          " does not broadcast to ", dst.shape());
  if (src.device() != dst.device()) return copy_into(dst, through_host(src, dst.device()));
  if (dst.dtype() == src.dtype()) {
    if (dst.shape() == src.shape() && dst.is_contiguous() && src.is_contiguous()) return copy_bytes(dst, src);
    if (transpose_copy(dst, src)) return;
  }
  program_of(src.dtype(), dst.dtype()).run_into(dst, {&src});
}

Tensor clone(const Tensor& x) {
  Tensor copy = empty(x.shape(), x.dtype(), x.device());
  copy_into(copy, x);
  return copy;
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor copy = empty(x.shape(), dtype, x.device());
  copy_into(copy, x);
  return copy;
}

void fill_into(const Tensor& dst, double value) {
  require(dst.defined(), "fill_into", "the tensor is undefined");
  require_no_overlap("fill_into", dst);
  fill_program(dst.dtype()).run_into(dst, {}, {dst.dtype() == DType::boolean ? double(value != 0) : value});
}

}  // namespace crisol::ops
