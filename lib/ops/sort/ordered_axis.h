// Views a tensor as rows along one axis, and restores the axis in the results.
#pragma once

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "ops/sort/sort_rows.h"
#include "tensor/impl.h"

namespace crisol::ops {

class OrderedAxis {
 public:
  OrderedAxis(const char* op, const Tensor& x, int axis) {
    require(x.defined(), op, "the tensor is undefined");
    scalar_ = x.dim() == 0;
    const Tensor lines = scalar_ ? reshape(x, {1}) : x;
    axis_ = normalized_axis(op, axis, lines.dim());
    turned_ = transpose(lines, axis_, -1);
    const std::int64_t n = turned_.shape().back();
    require(n <= longest_sorted_row, op, "axis ", axis, " of shape ", x.shape(), " has more than 2^32 - 2 elements");
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < turned_.dim(); ++i) rows *= turned_.shape()[i];
    rows_ = contiguous(reshape(turned_, {rows, n}));
  }

  /// Contiguous (rows, n).
  const Tensor& rows() const noexcept { return rows_; }
  std::int64_t length() const noexcept { return rows_.shape()[1]; }

  SortResult result(const SortResult& of_rows) const { return {back(of_rows.values), back(of_rows.indices)}; }

 private:
  // Moves the k elements of each row, (rows, k), back to the axis.
  Tensor back(const Tensor& of_rows) const {
    Shape shape = turned_.shape();
    shape[shape.rank() - 1] = of_rows.shape()[1];
    const Tensor lines = contiguous(transpose(reshape(of_rows, shape), axis_, -1));
    return scalar_ ? reshape(lines, {}) : lines;
  }

  bool scalar_ = false;
  int axis_ = 0;
  Tensor turned_, rows_;
};

}  // namespace crisol::ops
