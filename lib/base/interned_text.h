// Texts as whole numbers. The problem of an op consists of whole numbers. So a problem can hold a text, such as a
// generated part of a kernel, as the number of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crisol {

/// The number of a text in this process. Equal texts have the same number; the empty text has 0.
std::uint32_t intern(std::string_view text);

/// The text with that number. The reference is valid for as long as the process runs.
const std::string& interned(std::uint32_t number);

/// A text that is interned when the object is made, for tables of constants.
struct InternedText {
  std::uint32_t number;

  InternedText(const char* text) : number(intern(text)) {}
};

}  // namespace crisol
