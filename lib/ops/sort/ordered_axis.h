// Views a tensor as rows along one axis, and restores the axis in the results.
#pragma once

#include <array>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "ops/contiguous.h"
#include "ops/sort/sort_rows.h"
#include "tensor/impl.h"

namespace crisol::ops {

inline std::array<Tensor, 2> results_of(const SortResult& result) { return {result.values, result.indices}; }

class OrderedAxis {
 public:
  /// x must be defined. A tensor of another layout is copied by fill().
  OrderedAxis(const char* op, const Tensor& x, int axis) {
    scalar_ = x.dim() == 0;
    const Tensor lines = scalar_ ? reshape(x, {1}) : x;
    axis_ = normalized_axis(op, axis, lines.dim());
    transposed_ = transpose(lines, axis_, -1);
    const std::int64_t n = transposed_.shape().back();
    require(n <= longest_sorted_row, op, "axis ", axis, " of shape ", x.shape(), " has more than 2^32 - 2 elements");
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < transposed_.dim(); ++i) rows *= transposed_.shape()[i];
    lines_ = Contiguous(transposed_);
    rows_ = reshape(lines_.layout(), {rows, n});
  }

  /// (rows, n), contiguous. The elements are there after fill().
  const Tensor& rows() const noexcept { return rows_; }
  void fill() const { static_cast<void>(lines_.filled()); }
  std::int64_t length() const noexcept { return rows_.shape()[1]; }

  /// Memory for k elements of each row, and for their positions: (rows, k).
  SortResult empty_result(std::int64_t k) const {
    const Shape shape{rows_.shape()[0], k};
    return {empty(shape, rows_.dtype(), rows_.device()), empty(shape, DType::i64, rows_.device())};
  }
  /// The elements of each row, to be moved back to the axis.
  Contiguous restored(const Tensor& of_rows) const {
    Shape shape = transposed_.shape();
    shape[shape.rank() - 1] = of_rows.shape()[1];
    return Contiguous(transpose(reshape(of_rows, shape), axis_, -1));
  }
  /// The result, once the rows have their elements.
  Tensor result(const Contiguous& restored) const {
    return scalar_ ? reshape(restored.filled(), {}) : restored.filled();
  }

 private:
  bool scalar_ = false;
  int axis_ = 0;
  Tensor transposed_, rows_;
  Contiguous lines_;
};

}  // namespace crisol::ops
