// Numbers and dates as text.
#pragma once

#include <cstdio>
#include <ctime>
#include <string>

namespace crisol::cli {

/// Formats like std::printf, up to 255 characters.
template <class... Parts>
std::string format(const char* form, Parts... parts) {
  char text[256];
  std::snprintf(text, sizeof text, form, parts...);
  return text;
}

inline std::string time_text(double ms) { return ms < 0.1 ? format("%.2f us", ms * 1e3) : format("%.3f ms", ms); }

/// Today's date in UTC, as 2026-11-22.
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace crisol::cli
