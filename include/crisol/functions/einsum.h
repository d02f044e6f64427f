// Sums of products in Einstein's notation.
#pragma once

#include <string_view>
#include <vector>

#include "crisol/tensor.h"

namespace crisol {

/// torch.einsum. The equation has a letter for each axis of each operand, and after "->" a letter for each axis of the
/// result: "bij,bjk->bik" multiplies matrices. Elements that have the same position along each shared letter are
/// multiplied, and the products are summed over the letters that the result does not have.
///
/// If an operand has a letter twice, its diagonal is taken. "..." stands for the axes without letters, aligned at the
/// last axis. Without "->" the result has the axes of "..." and then the letters that appear once, in alphabetical
/// order. An axis of size 1 is repeated to the size that its letter has elsewhere. Operands are multiplied from left to
/// right, in f32 for f16. Axes of a single operand are summed first, in i64 for whole numbers and bool. Products of
/// whole numbers have the operands' dtype, modulo its size. Differentiable in all operands.
/// Errors (invalid_argument): an undefined tensor, two dtypes or devices, an equation that is none or does not fit the
/// operands, sizes of one letter that differ.
CRISOL_API Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace crisol
