// Joins positions along several axes into one number.
#pragma once

#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/elementwise.h"
#include "tensor/trace.h"

namespace crisol {

/// The positions along an axis of this size, with negative positions counted from the end.
inline Tensor counted_from_0(const Tensor& positions, std::int64_t size) {
  return ops::where(ops::lt(positions, 0), ops::add(positions, size), positions);
}

/// Joins positions along several axes into positions along all of these axes, seen as one axis. The outermost axis
/// comes first. Each tensor counts from 0, and the tensors broadcast. The result is -1 for positions outside of an
/// axis.
class JoinedPositions {
 public:
  void add(const Tensor& along_axis, std::int64_t size) {
    Tensor position = along_axis.to(DType::i64);
    // A trace gets the positions as they were given, so negative positions are converted here.
    if (current_trace() != nullptr) position = where(lt(position, 0), position + size, position);
    const Tensor wrong = logical_or(lt(position, 0), ge(position, size));
    outside_ = outside_.defined() ? logical_or(outside_, wrong) : wrong;
    joined_ = joined_.defined() ? joined_ * size + position : position;
  }
  Tensor get() const { return where(outside_, -1, joined_); }

 private:
  Tensor joined_, outside_;
};

}  // namespace crisol
