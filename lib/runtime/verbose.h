// CRISOL_VERBOSE: what the library says about itself, on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/text.h"

namespace crisol::runtime {

/// The words of CRISOL_VERBOSE, separated by commas; "all" or "1" means every one.
enum class Topic : unsigned { device = 1, build = 2, dispatch = 4, launch = 8, memory = 16 };

bool verbose(Topic topic) noexcept;

/// One line on stderr, whole even when several threads speak.
void say_line(const std::string& text);

template <class... Parts>
void say(Topic topic, const Parts&... parts) {
  if (verbose(topic)) say_line(concat(parts...));
}

inline std::int64_t milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

/// An environment variable, or an empty text.
std::string environment(const char* variable);

}  // namespace crisol::runtime
