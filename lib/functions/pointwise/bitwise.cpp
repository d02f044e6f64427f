#include "crisol/functions/bitwise.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/whole_rows.h"
#include "tensor/impl.h"

namespace crisol {

namespace rows = ops::rows;

namespace {

bool are_bool(const Operand& a, const Operand& b) {
  const auto defined = [](const Operand& x) { return x.tensor() == nullptr || x.tensor()->defined(); };
  return defined(a) && defined(b) && result_type(a, b) == DType::boolean;
}

}  // namespace

Tensor bitwise_and(const Operand& a, const Operand& b) {
  return are_bool(a, b) ? logical_and(a, b) : autograd::pointwise(rows::bitwise_and, {a, b});
}

Tensor bitwise_or(const Operand& a, const Operand& b) {
  return are_bool(a, b) ? logical_or(a, b) : autograd::pointwise(rows::bitwise_or, {a, b});
}

Tensor bitwise_xor(const Operand& a, const Operand& b) {
  return are_bool(a, b) ? logical_xor(a, b) : autograd::pointwise(rows::bitwise_xor, {a, b});
}

Tensor bitwise_not(const Tensor& x) {
  return x.defined() && x.dtype() == DType::boolean ? logical_not(x) : autograd::pointwise(rows::bitwise_not, {x});
}

Tensor bitwise_left_shift(const Operand& a, const Operand& b) {
  return autograd::pointwise(rows::bitwise_left_shift, {a, b});
}

Tensor bitwise_right_shift(const Operand& a, const Operand& b) {
  return autograd::pointwise(rows::bitwise_right_shift, {a, b});
}

Tensor trunc_divide(const Operand& a, const Operand& b) { return autograd::pointwise(rows::trunc_divide, {a, b}); }

Tensor bit_cast(const Tensor& x, DType dtype) {
  constexpr const char* op = "bit_cast";
  require(x.defined(), op, "the tensor is undefined");
  const auto from = static_cast<std::int64_t>(size_of(x.dtype())), to = static_cast<std::int64_t>(size_of(dtype));
  require(from == to || (x.dim() > 0 && x.size(-1) * from % to == 0), op, "shape ", x.shape(), " of ", x.dtype(),
          ", an element of which has ", from, " bytes, cannot become ", dtype, ", which has ", to,
          ": the bytes of the last axis are no multiple");
  require(dtype != DType::boolean || x.dtype() == DType::boolean, op, "the bits of ", x.dtype(),
          " cannot become bool; compare with ne(x, 0)");
  // The clone is contiguous, and nothing else uses it yet.
  const Tensor y = ops::clone(x);
  TensorImpl& impl = *y.impl();
  impl.dtype = dtype;
  if (from != to) {
    impl.shape[y.dim() - 1] = x.size(-1) * from / to;
    impl.strides = contiguous_strides(impl.shape);
  }
  return y;
}

}  // namespace crisol
