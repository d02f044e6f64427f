// Copies whose source and destination are contiguous along different axes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "crisol/tensor.h"
#include "dispatch/plan.h"
#include "dispatch/problem_key.h"
#include "dispatch/target.h"

namespace crisol::ops {

/// A batch of transposes. The operands of a plan are the source and the destination.
struct TransposeProblem {
  using Axes = std::array<std::int64_t, Shape::max_rank>;

  std::int64_t batch_rank = 0;
  Axes batch{}, src_batch{}, dst_batch{};  ///< The axes outside of the tiles: sizes, and strides of both tensors.
  std::int64_t rows = 0, columns = 0;
  std::int64_t src_ld = 0, dst_ld = 0;  ///< Leading dimensions: of a column of the source, of a row of the destination.

  Shape shape_of(const Axes& axes) const;
  void add_axis(std::int64_t size, std::int64_t src_stride, std::int64_t dst_stride);
  std::int64_t batches() const { return shape_of(batch).numel(); }

  dispatch::ProblemKey key() const { return {{"batch", batches()}, {"rows", rows}, {"columns", columns}}; }
};

/// The transposes by tiles in local memory, as GPUs do them.
dispatch::Plan plan_transposes(const TransposeProblem& problem, const dispatch::Target& target);

/// Queues the copy and returns true if it is such a copy and the elements have 4 bytes. The caller has checked that the
/// dtypes are equal and that src broadcasts to dst. It has also checked devices and overlap.
bool transpose_copy(const Tensor& dst, const Tensor& src);

/// Whether x is large, and contiguous along an axis other than the last. Kernels that walk along the last axis read a
/// contiguous copy of such a tensor many times faster.
bool is_worth_transposing(const Tensor& x);

}  // namespace crisol::ops
