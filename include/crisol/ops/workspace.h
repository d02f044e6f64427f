// Limit for the memory that an op uses in addition to its operands and its result.
#pragma once

#include <cstdint>

#include "crisol/export.h"

namespace crisol::ops {

/// Limits the memory in bytes that one op may use in addition to its operands and its result, for all threads. 0, the
/// default, means no limit. The environment variable CRISOL_WORKSPACE_MB sets the limit in megabytes. An op skips
/// variants that need more memory. Its last variant has no limit, so every op can run.
CRISOL_API void set_workspace_limit(std::uint64_t bytes);
/// The limit in bytes. 0 means no limit.
CRISOL_API std::uint64_t workspace_limit();

}  // namespace crisol::ops
