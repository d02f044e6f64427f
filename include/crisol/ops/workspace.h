// How much memory an op may take beside its operands and its result.
#pragma once

#include <cstdint>

#include "crisol/export.h"

namespace crisol::ops {

/// Limits the memory that one op may take beside its operands and its result, in bytes, for all threads. 0, the
/// default, means no limit. CRISOL_WORKSPACE_MB sets it in megabytes. An op skips variants that need more. Its last
/// variant is taken in any case.
CRISOL_API void set_workspace_limit(std::uint64_t bytes);
/// The limit in bytes; 0 for none.
CRISOL_API std::uint64_t workspace_limit();

}  // namespace crisol::ops
