// CRISOL_VERBOSE: messages of the library about its own work, on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/text.h"

namespace crisol::runtime {

/// The words of CRISOL_VERBOSE, separated by commas; "all" or "1" means all words.
enum class Topic : unsigned { device = 1, build = 2, dispatch = 4, launch = 8, memory = 16 };

bool verbose(Topic topic) noexcept;

/// Prints one line on stderr. Lines of several threads do not mix.
void log_line(const std::string& text);

template <class... Parts>
void log(Topic topic, const Parts&... parts) {
  if (verbose(topic)) log_line(concat(parts...));
}

inline std::int64_t milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

/// The value of an environment variable, or an empty text.
std::string environment(const char* variable);

}  // namespace crisol::runtime
