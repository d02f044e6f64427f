// Texts as the network sees them: characters are Unicode code points, numbered by a vocabulary.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace text_lstm {

/// The bytes of a file. Throws std::runtime_error, naming it, when it cannot be read.
std::string read_text(const std::string& path);

/// README and docs of the project, as they were when this program was built.
const std::string& embedded_text();

/// The code points of UTF-8 text. Throws std::runtime_error with `name` and the position of a byte that is not UTF-8.
std::u32string decode_utf8(const std::string& bytes, const std::string& name);
std::string encode_utf8(const std::u32string& text);

/// The characters that a network knows, in increasing order.
class Vocabulary {
 public:
  /// Those of a text.
  explicit Vocabulary(const std::u32string& text);

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  const std::u32string& characters() const { return characters_; }
  /// The number of each character. Throws std::runtime_error with `name` and the characters that are not known.
  std::vector<std::int64_t> encode(const std::u32string& text, const std::string& name) const;
  std::string utf8(std::int64_t number) const {
    return encode_utf8({characters_.at(static_cast<std::size_t>(number))});
  }

 private:
  std::u32string characters_;
  std::map<char32_t, std::int64_t> numbers_;
};

}  // namespace text_lstm
