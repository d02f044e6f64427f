// The variants of ops that work on rows.
#pragma once

#include <vector>

#include "support/coverage.h"

namespace crisol::testing {

/// A CPU takes "vector" for rows that are as long as a vector, so a case needs such a row.
inline std::vector<Expected> row_variants() { return {on_cpus("vector"), "item", "tree"}; }

}  // namespace crisol::testing
