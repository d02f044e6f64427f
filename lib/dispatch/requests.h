// The user's requests for variants: CRISOL_VARIANT=conv2d:direct,matmul:-block forces one variant and forbids another.
// A ForcedVariant forces a variant in its thread, and takes precedence.
#pragma once

#include <string>
#include <string_view>

namespace crisol::dispatch {

/// The variant that is forced for an op. Empty if none is forced.
std::string forced_variant(std::string_view op);

/// The requests of all ForcedVariants of this thread as one text, which is usually empty.
std::string forced_variants();

bool is_forbidden(std::string_view op, std::string_view variant);

}  // namespace crisol::dispatch
