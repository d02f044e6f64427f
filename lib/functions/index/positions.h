// Positions along several axes as one number.
#pragma once

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"

namespace crisol {

/// Negative positions along an axis of this size, counted from its end.
inline Tensor counted_from_0(const Tensor& positions, std::int64_t size) {
  return ops::where(ops::lt(positions, 0), ops::add(positions, size), positions);
}

/// Joins positions along several axes, the outermost one first, to positions along all of them, seen as one axis. Each
/// tensor counts from 0, and the tensors broadcast. -1 for positions outside of an axis.
class JoinedPositions {
 public:
  void add(const Tensor& along_axis, std::int64_t size) {
    const Tensor position = ops::cast(along_axis, DType::i64);
    const Tensor wrong = ops::logical_or(ops::lt(position, 0), ops::ge(position, size));
    outside_ = outside_.defined() ? ops::logical_or(outside_, wrong) : wrong;
    joined_ = joined_.defined() ? ops::add(ops::mul(joined_, size), position) : position;
  }
  Tensor get() const { return ops::where(outside_, -1, joined_); }

 private:
  Tensor joined_, outside_;
};

}  // namespace crisol
