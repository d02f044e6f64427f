#include "settings.h"

#include <charconv>
#include <stdexcept>

namespace text_lstm {

namespace {

// The shortest text from which the same number can be read back.
std::string all_digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

crisol::io::Metadata describe(const Settings& s) {
  crisol::io::Metadata all{{"layers", std::to_string(s.layers)},
                           {"hidden", std::to_string(s.hidden)},
                           {"embedding", std::to_string(s.embedding)},
                           {"dropout", all_digits(s.dropout)},
                           {"batch", std::to_string(s.batch)},
                           {"window", std::to_string(s.window)},
                           {"steps", std::to_string(s.steps)},
                           {"lr", all_digits(s.lr)},
                           {"clip", all_digits(s.clip)},
                           {"seed", std::to_string(s.seed)}};
  if (s.dtype != "f32") all["dtype"] = s.dtype;  // Checkpoints of 0.2 are f32, and do not tell it.
  return all;
}

void require_same(const std::string& path, const crisol::io::Metadata& ours, const crisol::io::Metadata& theirs) {
  std::string differences;
  for (const auto& [name, value] : ours) {
    const auto found = theirs.find(name);
    const std::string there = found == theirs.end() ? "missing" : found->second;
    if (there != value) differences += "\n  " + name + " is " + value + ", there " + there;
  }
  if (!differences.empty()) throw std::runtime_error(path + " is the checkpoint of another training:" + differences);
}

}  // namespace text_lstm
