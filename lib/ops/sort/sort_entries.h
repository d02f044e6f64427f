// Conversion of elements to entries for sorting, and back: cl_kernels/sort/sort_entries.cl.
#pragma once

#include <cstdint>

#include "crisol/dtype.h"
#include "dispatch/plan.h"
#include "dispatch/target.h"

namespace crisol::ops {

using namespace dispatch;

/// Whether elements have keys of 64 bits. They are sorted by the lower halves first, then by the upper ones.
inline bool has_two_keys(DType dtype) { return size_of(dtype) == 8; }

/// TYPE of sort/sort_key.h. Of two keys it is the lower half, or the upper one if `upper`.
const char* key_type(DType dtype, bool upper = false);

/// All ones for descending order, otherwise 0.
inline std::uint32_t flip_of(bool descending) { return descending ? 0xffffffffu : 0u; }

/// Adds the kernels that convert rows (rows, n) of elements to a plan.
struct EntrySteps {
  Plan& plan;
  const Target& target;
  DType dtype;
  bool descending;
  std::int64_t rows, n;

  /// Makes the entries of the elements. Of two keys, the keys are the lower halves.
  void make(const Place& x, const Place& entries) const;
  /// For two keys: makes entries whose keys are the upper halves, in the order of `sorted`.
  void make_next(const Place& x, const Place& sorted, const Place& entries) const;
  /// For two keys: turns indices in `sorted` into positions in x.
  void join(const Place& sorted, const Place& entries) const;
  /// Takes the values and positions of the elements to which the first k entries of each row belong. A row has `width`
  /// entries.
  void take(const Place& x, const Place& entries, std::int64_t width, const Place& values, const Place& indices,
            std::int64_t k) const;
};

}  // namespace crisol::ops
