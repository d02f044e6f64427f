// Positions that count from the end of an axis, and positions along several axes.
#pragma once

#include "crisol/functions/elementwise.h"

namespace crisol {

/// The positions along an axis of this size, with negative positions counted from the end.
inline Tensor counted_from_0(const Tensor& positions, std::int64_t size) {
  return where(lt(positions, 0), positions + size, positions);
}

/// Joins positions along several axes into positions along all of these axes, seen as one axis. The outermost axis
/// comes first. Each tensor counts from 0, and the tensors broadcast. The result is -1 for positions outside of an
/// axis.
class JoinedPositions {
 public:
  void add(const Tensor& along_axis, std::int64_t size) {
    const Tensor position = along_axis.to(DType::i64);
    const Tensor wrong = logical_or(lt(position, 0), ge(position, size));
    outside_ = outside_.defined() ? logical_or(outside_, wrong) : wrong;
    joined_ = joined_.defined() ? joined_ * size + position : position;
  }
  Tensor get() const { return where(outside_, -1, joined_); }

 private:
  Tensor joined_, outside_;
};

}  // namespace crisol
