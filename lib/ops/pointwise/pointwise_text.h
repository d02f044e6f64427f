// Reading the expressions of rows.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace crisol::ops {

/// Calls take(piece, is_name) for each piece of an expression in order: names, and what stands between them (operators,
/// and numbers with their suffixes).
template <class Take>
void for_each_piece(std::string_view text, Take take) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
      take(text.substr(at, end - at), std::isdigit(static_cast<unsigned char>(text[at])) == 0);
    } else {
      while (end < text.size() && !in_word(text[end])) ++end;
      take(text.substr(at, end - at), false);
    }
    at = end;
  }
}

/// Whether an expression uses a name.
inline bool uses(std::string_view text, std::string_view name) {
  bool found = false;
  for_each_piece(text, [&](std::string_view piece, bool is_name) { found = found || (is_name && piece == name); });
  return found;
}

}  // namespace crisol::ops
