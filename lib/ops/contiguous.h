// Operands that kernels read in row-major order.
#pragma once

#include <functional>
#include <memory>

#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Does all of copy_into(dst, src) (crisol/ops/copy.h) that may fail: checks it, and resolves its kernel. The function
/// that it returns queues the copy.
std::function<void()> prepare_copy(const Tensor& dst, const Tensor& src);

/// A tensor, or its row-major copy if the tensor has another layout or dtype. The constructor allocates the copy and
/// resolves the kernel that makes it, and queues nothing. The copy is queued when a launch takes the operand, which is
/// after the launch's own kernels are resolved. So an op makes its operands first and then prepares its kernels. If a
/// kernel cannot be built, nothing has been queued.
class Contiguous {
 public:
  Contiguous() = default;
  /// An undefined tensor gives an undefined operand.
  explicit Contiguous(const Tensor& x);
  Contiguous(const Tensor& x, DType dtype);
  /// An operand that is x itself, in any layout.
  static Contiguous as_is(const Tensor& x);

  bool defined() const noexcept { return tensor_.defined(); }
  /// A tensor with the operand's shape, strides, offset and dtype, for problems. Its elements must not be read.
  const Tensor& layout() const noexcept { return tensor_; }
  /// The tensor with its elements. The first call queues the copy, if one is needed.
  const Tensor& filled() const;

 private:
  Tensor tensor_;
  mutable std::unique_ptr<const std::function<void()>> copy_;  ///< Not null until the copy is queued.
};

/// A matrix, or a stack of matrices, whose last or second-to-last axis has stride 1: x itself or its copy.
Contiguous with_unit_stride(const Tensor& x);

/// An operand in a list of arguments. A launch takes its elements after it has resolved its kernel.
struct ContiguousArg {
  const Contiguous& operand;

  operator runtime::BufferView() const { return in(operand.filled()); }
  operator dispatch::OperandView() const { return in(operand.filled()); }
};

inline ContiguousArg in(const Contiguous& x) { return {x}; }

}  // namespace crisol::ops
