// Parsing of rows' expressions.
#pragma once

#include <cstddef>
#include <string_view>

namespace crisol::ops {

/// Calls take(piece, is_name) for the pieces of an expression, in order. A piece is a name, or the text between two
/// names (operators, and numbers with their suffixes).
template <class Take>
constexpr void for_each_piece(std::string_view text, Take take) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto in_word = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  };
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
      take(text.substr(at, end - at), !is_digit(text[at]));
    } else {
      while (end < text.size() && !in_word(text[end])) ++end;
      take(text.substr(at, end - at), false);
    }
    at = end;
  }
}

}  // namespace crisol::ops
