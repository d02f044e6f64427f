// A size for messages.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/text.h"

namespace crisol {

/// "196 MiB", "1.5 GiB", "512 bytes".
inline std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return concat(bytes, " bytes");
  double amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  char text[40];
  std::snprintf(text, sizeof text, amount < 10 ? "%.1f %s" : "%.0f %s", amount, unit);
  return text;
}

}  // namespace crisol
