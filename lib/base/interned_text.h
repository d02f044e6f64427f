// Texts as whole numbers. The problems of ops consist of whole numbers, so a problem holds a text, such as a generated
// part of a kernel, by its number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crisol {

/// The number of a text in this process. Equal texts have the same number; the empty text has 0.
std::uint32_t intern(std::string_view text);

/// The text with that number. The reference is valid for as long as the process runs.
const std::string& interned(std::uint32_t number);

/// A text that was interned once, for rows of tables.
struct InternedText {
  std::uint32_t number;

  InternedText(const char* text) : number(intern(text)) {}
};

}  // namespace crisol
