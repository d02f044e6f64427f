#include "corpus.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace text_lstm {

namespace {

// The length of the sequence that starts with this byte; 0 if no sequence can start with it.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Decodes the code point at a position. Returns the number of its bytes, or 0 if the bytes are not UTF-8.
std::size_t decode_one(const std::string& bytes, std::size_t at, char32_t& code) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  const std::size_t length = sequence_length(lead);
  if (length == 0 || at + length > bytes.size()) return 0;
  code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(bytes[at + i]);
    if ((next & 0xc0u) != 0x80) return 0;
    code = code << 6 | (next & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw std::runtime_error("cannot read " + path + ": it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  return bytes;
}

std::u32string decode_utf8(const std::string& bytes, const std::string& name) {
  std::u32string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    char32_t code = 0;
    const std::size_t length = decode_one(bytes, at, code);
    if (length == 0)
      throw std::runtime_error(name + " is not UTF-8: byte " + std::to_string(at) + " of " +
                               std::to_string(bytes.size()) + " begins no character");
    text.push_back(code);
    at += length;
  }
  return text;
}

std::string encode_utf8(const std::u32string& text) {
  std::string bytes;
  for (const char32_t code : text) {
    const auto tail = [&](int shift) { bytes += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      bytes += static_cast<char>(code);
    } else if (code < 0x800) {
      bytes += static_cast<char>(0xc0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      bytes += static_cast<char>(0xe0 | code >> 12);
      tail(6), tail(0);
    } else {
      bytes += static_cast<char>(0xf0 | code >> 18);
      tail(12), tail(6), tail(0);
    }
  }
  return bytes;
}

Vocabulary::Vocabulary(const std::u32string& text) : characters_(text) {
  std::sort(characters_.begin(), characters_.end());
  characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
  for (const char32_t character : characters_) numbers_.emplace(character, static_cast<std::int64_t>(numbers_.size()));
}

std::vector<std::int64_t> Vocabulary::encode(const std::u32string& text, const std::string& name) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(text.size());
  std::set<char32_t> unknown;
  for (const char32_t character : text) {
    const auto found = numbers_.find(character);
    if (found == numbers_.end())
      unknown.insert(character);
    else
      numbers.push_back(found->second);
  }
  if (!unknown.empty())
    throw std::runtime_error(name + " holds characters that the network does not know: '" +
                             encode_utf8({unknown.begin(), unknown.end()}) + "'; it knows '" +
                             encode_utf8(characters_) + "'");
  return numbers;
}

}  // namespace text_lstm
