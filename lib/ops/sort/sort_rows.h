// Sorting of rows. It is used by sort and topk, and on GPUs by ops that add by index.
#pragma once

#include "crisol/dtype.h"
#include "dispatch/choose.h"

namespace crisol::ops {

using namespace dispatch;

/// The largest number of entries in a row. Positions have 32 bits, and the largest position marks an empty place.
inline constexpr std::int64_t longest_sorted_row = (std::int64_t{1} << 32) - 2;

/// Sorts each row of a contiguous (rows, length). The operands of a plan are x, the values of the first `taken`
/// elements of each sorted row, and their positions.
struct SortProblem {
  std::int64_t rows;
  std::int64_t length;
  std::int64_t dtype;       ///< The dtype of the elements, or `entries`.
  std::int64_t descending;  ///< 1 or 0.
  std::int64_t taken;       ///< How many elements of each sorted row the results hold.

  /// The only operand holds entries, which the plan may overwrite. Plan::result is the place of the sorted entries. An
  /// entry is a ulong: key * 2^32 + position. The caller gives the positions of a row in order, so equal keys stay in
  /// order.
  static constexpr std::int64_t entries = -1;

  ProblemKey key() const { return {{"rows", rows}, {"length", length}}; }
};

/// The variants are "radix" (CPUs) and "merge".
extern const Table<SortProblem> sort_table;

}  // namespace crisol::ops
