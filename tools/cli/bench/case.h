// The things that can be measured: a table of cases. Each case has keys and a function that prepares the work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/precision.h"
#include "crisol/tensor.h"
#include "rerun/rerun.h"

namespace crisol::cli::bench {

/// The command line has an unknown word. The text of the error lists the words that exist.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One key of a case.
struct Key {
  const char* name;
  const char* initial;  ///< The value if the key is not given.
  std::string allowed;  ///< Words separated by '|', or ">=N" for whole numbers.
  const char* help;
};

/// The values of all keys of a case.
class Values {
 public:
  void set(const std::string& key, std::string value) { texts_[key] = std::move(value); }
  const std::string& text(const std::string& key) const { return texts_.at(key); }
  std::int64_t number(const std::string& key) const { return std::stoll(text(key)); }
  int small(const std::string& key) const { return std::stoi(text(key)); }
  bool on(const std::string& key) const { return text(key) == "1"; }
  bool is(const std::string& key, std::string_view value) const { return text(key) == value; }
  const std::map<std::string, std::string>& all() const noexcept { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

/// Work to time. `run` queues it once; if there is a `renew`, it is called before each run. Rates are computed from the
/// amounts for one run.
struct Work {
  std::function<void()> run;
  std::function<void()> renew;  ///< Writes operands, so that copies made from them (packed weights) are not used again.
  double flops = 0;             ///< Operations, where a multiply-add counts as two; 0 if the rate is in bytes.
  double bytes = 0;             ///< The least number of bytes to read and write; gives the rate if flops is 0.
  double items = 0;             ///< The number of items in a run, such as images or sequences, for the rate "a second".
  const char* item = "";        ///< The name of an item.
  bool alone = false;           ///< True if the work waits for the device by itself.
  /// Writes the case's network as an ONNX file. It is empty if the case has no network.
  std::function<void(const std::string& path)> save_onnx;
};

/// Writes one element of a contiguous tensor.
using rerun::touch;

/// The names of a table's entries, as the allowed words of a key.
template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += std::string(names.empty() ? "" : "|") + entry.name;
  return names;
}

/// The entry with that name. It exists, because the key's allowed words were checked.
template <class Table>
const auto& entry_of(const Table& table, const std::string& name) {
  for (const auto& entry : table)
    if (name == entry.name) return entry;
  throw UsageError("there is no '" + name + "'; there are " + names_of(table));
}

/// precision_key() is the key "precision" of a case, and precision_of() reads it. in_precision() makes work that runs
/// in that precision.
Key precision_key();
Precision precision_of(const Values& values);
std::function<void()> in_precision(Precision precision, std::function<void()> run);

/// dtype_key() is the key "dtype" of a case: the type of its operands and results in memory. dtype_of() reads it.
/// numbers() makes a random operand. element_bytes() is the size of an element.
Key dtype_key();
/// The same for cases that take i8 too.
Key dtype_or_i8_key();
DType dtype_of(const Values& values);
Tensor numbers(const Values& values, const Shape& shape);
double element_bytes(const Values& values);

struct Case {
  const char* name;
  const char* help;
  std::vector<Key> keys;
  Work (*prepare)(const Values&);
};

/// All cases, in the order of the help.
std::span<const Case* const> cases();

/// A case, the values of all its keys, and the text that asked for it.
struct Request {
  const Case* what;
  Values values;
  std::string line;
};

/// Reads "CASE", "key=value", …. Throws UsageError for an unknown case or key or a bad value; the text lists the right
/// ones.
Request parse(const std::vector<std::string>& words);
Request parse_line(const std::string& line);

/// A text with all cases, their keys, the defaults and the meaning of each key.
std::string describe_cases();

}  // namespace crisol::cli::bench
