// Chooses the kernel that runs a pointwise program, and its elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dispatch/choose.h"
#include "ops/collapse.h"

namespace crisol::ops {

using namespace dispatch;

/// The operands of a plan are the program's inputs and outputs, and the call scalars are its numbers.
struct PointwiseProblem {
  std::int64_t kernels;   ///< PointwiseKernels::number().
  std::int64_t in_place;  ///< 1 if an input is also an output.
  /// The first is 1 if every operand starts with a whole vector of a GPU. The second is 1 if every output starts with a
  /// whole vector of any CPU.
  std::int64_t starts_gpu_vectors, outputs_start_cpu_vectors;
  std::int64_t rank;
  /// The sizes, then the strides of each input, then the strides of the outputs, with `rank` numbers each. The rest of
  /// the array is undefined.
  std::array<std::int64_t, runtime::kernel_axes*(1 + Loop::max_operands)> axes;

  static constexpr std::int64_t gpu_vector = 4, cpu_vector = 16;

  void set_loop(const Loop& loop) noexcept;
  /// The loop over `operands` operands that are contiguous and have `count` elements each.
  void set_flat(std::int64_t count, std::size_t operands) noexcept;
  /// The loop over `operands` operands.
  Loop loop(std::size_t operands) const;
  /// The bytes that decide the plan, which are the key of prepared plans.
  std::span<const std::byte> key_bytes(std::size_t operands) const noexcept;
};

/// The variants are "chunks" (CPUs) and "items".
extern const Table<PointwiseProblem> pointwise_table;

}  // namespace crisol::ops
