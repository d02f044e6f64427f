// Texts as the network sees them: characters are Unicode code points, and a vocabulary numbers them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace text_lstm {

/// The bytes of a file. Throws std::runtime_error with the file's name when it cannot be read.
std::string read_text(const std::string& path);

/// The project's README and docs, as they were when this program was built.
const std::string& embedded_text();

/// The code points of UTF-8 text. If a byte is not UTF-8, throws std::runtime_error with `name` and the byte's
/// position.
std::u32string decode_utf8(const std::string& bytes, const std::string& name);
std::string encode_utf8(const std::u32string& text);

/// The characters that a network knows, in increasing order.
class Vocabulary {
 public:
  /// The characters of a text.
  explicit Vocabulary(const std::u32string& text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  const std::u32string& characters() const { return characters_; }
  /// The number of each character. If there are unknown characters, throws std::runtime_error with `name` and these
  /// characters.
  std::vector<std::int64_t> encode(const std::u32string& text, const std::string& name) const;
  std::string utf8(std::int64_t number) const {
    return encode_utf8({characters_.at(static_cast<std::size_t>(number))});
  }

 private:
  std::u32string characters_;
  std::map<char32_t, std::int64_t> numbers_;
};

}  // namespace text_lstm
