// Conversion of elements to entries for sorting, and back: cl_kernels/sort/sort_entries.cl.
#pragma once

#include <cstdint>

#include "crisol/dtype.h"
#include "dispatch/plan.h"
#include "dispatch/target.h"

namespace crisol::ops {

using namespace dispatch;

/// The TYPE of sort/sort_key.h. i64 has two keys; the result is the key of the lower half.
const char* key_type(DType dtype);

/// All ones for descending order, otherwise 0.
inline std::uint32_t flip_of(bool descending) { return descending ? 0xffffffffu : 0u; }

/// Adds the kernels that convert rows (rows, n) of elements to a plan.
struct EntrySteps {
  Plan& plan;
  const Target& target;
  DType dtype;
  bool descending;
  std::int64_t rows, n;

  /// The entries of the elements; for i64 their lower halves.
  void make(const Place& x, const Place& entries) const;
  /// i64: the entries of the upper halves, in the order of `sorted`.
  void make_next(const Place& x, const Place& sorted, const Place& entries) const;
  /// i64: positions in `sorted` become positions in x.
  void join(const Place& sorted, const Place& entries) const;
  /// The values and positions of the elements that the first k entries of each row refer to. A row has `width` entries.
  void take(const Place& x, const Place& entries, std::int64_t width, const Place& values, const Place& indices,
            std::int64_t k) const;
};

}  // namespace crisol::ops
