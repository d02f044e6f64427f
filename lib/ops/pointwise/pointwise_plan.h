// Which kernel runs a pointwise program over which elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dispatch/choose.h"
#include "ops/collapse.h"

namespace crisol::ops {

using namespace dispatch;

/// The operands of a plan are the inputs and the outputs of the program. The call scalars are its numbers.
struct PointwiseProblem {
  std::int64_t kernels;   ///< PointwiseKernels::number().
  std::int64_t in_place;  ///< 1 if an input is an output too.
  /// 1 if every operand starts with a whole vector of a GPU; 1 if every output starts with a whole vector of any CPU.
  std::int64_t starts_gpu_vectors, outputs_start_cpu_vectors;
  std::int64_t rank;
  /// The sizes, then the strides of each input, then the strides of the outputs, with `rank` numbers each. The rest is
  /// undefined.
  std::array<std::int64_t, Shape::max_rank*(1 + Loop::max_operands)> axes;

  static constexpr std::int64_t gpu_vector = 4, cpu_vector = 16;

  void set_loop(const Loop& loop) noexcept;
  /// The loop over `operands` operands.
  Loop loop(std::size_t operands) const;
  /// The bytes that decide the plan. Prepared plans are looked up by them.
  std::span<const std::byte> key_bytes(std::size_t operands) const noexcept;
};

/// The variants are chunks (CPUs) and items.
extern const Table<PointwiseProblem> pointwise_table;

}  // namespace crisol::ops
