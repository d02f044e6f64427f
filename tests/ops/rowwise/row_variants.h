// The variants of ops that work on rows.
#pragma once

#include <vector>

#include "support/coverage.h"

namespace crisol::testing {

/// For cases with rows of fewer than 32 elements, and with rows that are as long as a CPU's vector. In the short rows,
/// every device has one row for each work-item. CPUs take all rows by "item". "vector" takes `long_rows` of the
/// problems, or all. A device with shorter vectors than 16 takes more of them.
inline std::vector<Expected> row_variants(int long_rows = 0) {
  return {some(long_rows, on_cpus("vector")), all_on_cpus("item", 1), "tree"};
}

/// For cases that have only longer rows. "vector" takes the contiguous ones. `contiguous` is their number, or 0 if all
/// are.
inline std::vector<Expected> long_row_variants(int contiguous = 0) {
  return {some(contiguous, on_cpus("vector")), on_cpus("item"), "tree"};
}

/// The same of an op that also has "lanes", which takes all rows on CPUs.
inline std::vector<Expected> with_lanes(std::vector<Expected> variants) {
  variants.push_back(on_cpus("lanes"));
  return variants;
}

}  // namespace crisol::testing
