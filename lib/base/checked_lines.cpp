#include "base/checked_lines.h"

#include <algorithm>
#include <cstdio>

#include "base/hash.h"
#include "base/text.h"

namespace crisol {

std::string hex_of(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string_view cut_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

bool split_fields(std::string_view line, std::span<std::string_view> fields) {
  if (static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1 != fields.size()) return false;
  for (std::string_view& field : fields) field = cut_until(line, '\t');
  return true;
}

std::string with_checksum(std::string_view format, std::string_view lines) {
  return concat(format, ' ', hex_of(hash_of(lines)), '\n', lines);
}

namespace {

std::string with_plain_line_ends(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || text.substr(i, 2) != "\r\n") plain += text[i];
  return plain;
}

}  // namespace

CheckedLines without_checksum(std::string_view format, std::string_view file) {
  if (file.empty()) return {};
  const std::string plain = with_plain_line_ends(file);
  std::string_view text = plain;
  if (text.substr(0, format.size()) != format || text.substr(format.size(), 1) != " ")
    return {{}, "is of another format"};
  text.remove_prefix(format.size() + 1);
  std::uint64_t checksum = 0;
  if (const std::string_view digits = cut_until(text, '\n'); digits.size() != 16 || !parse_number(digits, 16, checksum))
    return {{}, "is damaged"};
  if (hash_of(text) != checksum) return {{}, "has a wrong checksum"};
  return {std::string(text)};
}

}  // namespace crisol
