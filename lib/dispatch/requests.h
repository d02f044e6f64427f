// The user's requests for the choice among variants: CRISOL_VARIANT=conv2d:direct,matmul:-block forces one variant and
// forbids another. A ForcedVariant forces one in its thread, and wins.
#pragma once

#include <string>
#include <string_view>

namespace crisol::dispatch {

/// The variant that is forced for an op, or an empty text.
std::string forced_variant(std::string_view op);

/// The requests of all ForcedVariants of this thread as one text, which is usually empty.
std::string forced_variants();

bool is_forbidden(std::string_view op, std::string_view variant);

}  // namespace crisol::dispatch
