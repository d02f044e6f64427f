// The text format of small files: first a line with the format's name and a checksum, then lines with tab-separated
// fields.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crisol {

/// The number as sixteen hexadecimal digits.
std::string hex_of(std::uint64_t value);

/// Reads a number. Returns false unless the whole text is a number.
template <class Number>
bool parse_number(std::string_view text, int base, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && at == end && !text.empty();
}

/// Returns the text before the separator. Removes that text and the separator.
std::string_view cut_until(std::string_view& text, char separator);

/// Splits a line into its fields. Returns false if the line has another number of fields.
bool split_fields(std::string_view line, std::span<std::string_view> fields);

/// A text for without_checksum(): a first line with the format and the checksum of the lines, then the lines. `format`
/// names the file and its version: "crisol tuning 1".
std::string with_checksum(std::string_view format, std::string_view lines);

/// The lines of a text that with_checksum made. If the text is damaged or has another format, `fault` is the reason. An
/// empty text has no lines. Lines may end with "\r\n", as an editor on Windows leaves them.
struct CheckedLines {
  std::string lines;
  const char* fault = nullptr;
};
CheckedLines without_checksum(std::string_view format, std::string_view file);

}  // namespace crisol
