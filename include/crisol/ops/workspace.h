// How much memory an op may take beside its operands and its result.
#pragma once

#include <cstdint>

#include "crisol/export.h"

namespace crisol::ops {

/// Bounds what one op may take of memory beside its operands and its result: variants that need more are passed over,
/// the last of each op needs none. In bytes for all threads, 0 for no bound, which is the default; CRISOL_WORKSPACE_MB
/// sets it in megabytes. Convolutions keep to it.
CRISOL_API void set_workspace_limit(std::uint64_t bytes);
/// The bound in bytes; 0 for none.
CRISOL_API std::uint64_t workspace_limit();

}  // namespace crisol::ops
