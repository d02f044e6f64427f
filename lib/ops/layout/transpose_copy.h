// Copies whose source and destination are contiguous along different axes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "crisol/tensor.h"
#include "dispatch/choose.h"
#include "dispatch/problem_key.h"
#include "dispatch/target.h"

namespace crisol::ops {

/// A batch of transposes. The operands of a plan are the source and the destination.
struct TransposeProblem {
  using Axes = std::array<std::int64_t, runtime::kernel_axes>;

  std::int64_t batch_rank = 0;
  Axes batch{}, src_batch{}, dst_batch{};  ///< The axes outside of the tiles: their sizes, and their strides in both
                                           /// tensors.
  std::int64_t rows = 0, columns = 0;
  std::int64_t src_ld = 0, dst_ld = 0;  ///< Leading dimensions: between columns of the source, and between rows of the
                                        /// destination.
  std::int64_t type = 0;                ///< The type as which elements are moved: a DType of 4 or 2 bytes.

  Shape shape_of(const Axes& axes) const;
  void add_axis(std::int64_t size, std::int64_t src_stride, std::int64_t dst_stride);
  std::int64_t batches() const { return shape_of(batch).numel(); }

  dispatch::ProblemKey key() const {
    return dispatch::ProblemKey{{"batch", batches()}, {"rows", rows}, {"columns", columns}}.with_types(type);
  }
};

/// The plan that transposes tiles in local memory, as on GPUs.
dispatch::Plan plan_transposes(const TransposeProblem& problem, const dispatch::Target& target);

/// The kernel of such a copy of elements of 4 or 2 bytes, for the operands src and dst. Null if the copy is no
/// transpose. The caller has checked that src broadcasts to dst, and devices and overlap.
dispatch::PreparedPtr prepare_transposes(const Tensor& dst, const Tensor& src);

/// Whether x is large, and contiguous along another axis than the last. Kernels that walk along the last axis read a
/// contiguous copy many times faster than such a tensor.
bool is_worth_transposing(const Tensor& x);

}  // namespace crisol::ops
