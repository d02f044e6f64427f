// Running one variant of an op.
#pragma once

#include <functional>
#include <string>

namespace crisol::testing {

/// Runs `body` with a variant of `op` forced. Returns false, as if nothing had happened, where the variant refuses.
bool run_variant(const std::string& op, const std::string& variant, const std::function<void()>& body);

}  // namespace crisol::testing
