// The element types of results by the Array API standard: the types of the operands alone decide. In the library, as in
// PyTorch, a tensor of rank 0 counts less than others. So whole numbers are converted before the call where the rules
// differ. The standard has no rule for float16, nor for whole numbers with others, so they follow PyTorch's.
#pragma once

#include <algorithm>

#include "crisol/functions/matmul.h"
#include "crisol/tensor.h"

namespace crisol::python {

/// The two operands. They are converted if one is a tensor of rank 0 and the rules differ.
class Promoted {
 public:
  Promoted(const Operand& a, const Operand& b) : a_(a), b_(b) {
    if (a.tensor() == nullptr || b.tensor() == nullptr) return;
    const Tensor &x = *a.tensor(), &y = *b.tensor();
    if (!x.defined() || !y.defined() || x.dtype() == y.dtype() || (x.dim() > 0 && y.dim() > 0)) return;
    if (is_floating(x.dtype()) != is_floating(y.dtype())) return;
    if (is_floating(x.dtype()) && std::min(size_of(x.dtype()), size_of(y.dtype())) < size_of(DType::f32)) return;
    const DType wanted = promote_types(x.dtype(), y.dtype());
    if (result_type(x, y) == wanted) return;
    a_ = Operand(held_a_ = x.to(wanted));
    b_ = Operand(held_b_ = y.to(wanted));
  }
  Promoted(const Promoted&) = delete;
  Promoted& operator=(const Promoted&) = delete;

  const Operand& a() const { return a_; }
  const Operand& b() const { return b_; }

 private:
  Operand a_, b_;
  Tensor held_a_, held_b_;
};

template <Tensor (*function)(const Operand&, const Operand&)>
Tensor promoted(const Operand& a, const Operand& b) {
  const Promoted both(a, b);
  return function(both.a(), both.b());
}

/// The same for functions of two tensors.
template <Tensor (*function)(const Tensor&, const Tensor&)>
Tensor promoted_tensors(const Tensor& a, const Tensor& b) {
  const DType dtype = promote_types(a.dtype(), b.dtype());
  return function(a.to(dtype), b.to(dtype));
}

/// The product of matrices in their common dtype.
inline Tensor multiply_matrices(const Tensor& a, const Tensor& b) { return promoted_tensors<&matmul>(a, b); }

}  // namespace crisol::python
