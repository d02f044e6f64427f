// The variants of ops that work on rows.
#pragma once

#include <vector>

#include "support/coverage.h"

namespace crisol::testing {

/// For cases with rows of fewer than 32 elements, which every device takes one to a work-item, and rows that are as
/// long as a CPU's vector.
inline std::vector<Expected> row_variants() { return {on_cpus("vector"), "item", "tree"}; }

/// For cases with longer rows alone.
inline std::vector<Expected> long_row_variants() { return {on_cpus("vector"), on_cpus("item"), "tree"}; }

}  // namespace crisol::testing
