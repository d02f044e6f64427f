// The text of small files: a line with format and checksum, then lines of fields between tabs.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crisol::runtime {

/// Sixteen digits.
std::string hex_of(std::uint64_t value);

/// False unless all of the text is a number.
template <class Number>
bool parse_number(std::string_view text, int base, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && at == end && !text.empty();
}

/// What stands before the separator, and removes both.
std::string_view cut_until(std::string_view& text, char separator);

/// The fields of a line; false where it has another number of them.
bool split_fields(std::string_view line, std::span<std::string_view> fields);

/// `format` names the file and its version: "crisol tuning 1".
std::string with_checksum(std::string_view format, std::string_view lines);

/// The lines of a text that with_checksum made, or why it is damaged or of another format. The empty text has none;
/// lines may end with "\r\n", as an editor on Windows leaves them.
struct CheckedLines {
  std::string lines;
  const char* fault = nullptr;
};
CheckedLines without_checksum(std::string_view format, std::string_view file);

}  // namespace crisol::runtime
