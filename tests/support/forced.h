// Runs one variant of an op.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace crisol::testing {

/// Runs `body` with a variant of `op` forced. If the variant refuses, returns the message without any other effect.
std::optional<std::string> refusal_of(const std::string& op, const std::string& variant,
                                      const std::function<void()>& body);

/// Runs `body` with a variant of `op` forced. If the variant refuses, returns false without any other effect.
bool run_variant(const std::string& op, const std::string& variant, const std::function<void()>& body);

}  // namespace crisol::testing
