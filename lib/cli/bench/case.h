// What can be measured: a table of cases, each with its keys and a function that prepares the work.
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
#include "replay/replay.h"

namespace crisol::cli::bench {

/// A word on the command line that does not exist; its text lists those that do.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One key of a case.
struct Key {
  const char* name;
  const char* initial;  ///< Its value when it is not given.
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

/// Something to time. `run` queues it once, after `renew` where there is one. Rates come from what one run amounts to.
struct Work {
  std::function<void()> run;
  std::function<void()> renew;  ///< Writes operands, so that nothing made from them (packed weights) is used again.
  double flops = 0;             ///< Operations, a multiply-add counts two; 0 where bytes are what counts.
  double bytes = 0;             ///< That the result needs to be read and written at least; the rate where flops is 0.
  double items = 0;             ///< Images, sequences: what a run is said to do "a second".
  const char* item = "";        ///< Their name.
  bool alone = false;           ///< Waits for the device by itself.
};

/// Writes one element of a contiguous tensor.
using replay::touch;

/// The names of a table's entries as a key's allowed words.
template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += std::string(names.empty() ? "" : "|") + entry.name;
  return names;
}

/// The entry of that name, which the key's allowed words made sure of.
template <class Table>
const auto& entry_of(const Table& table, const std::string& name) {
  for (const auto& entry : table)
    if (name == entry.name) return entry;
  throw UsageError("there is no '" + name + "'; there are " + names_of(table));
}

/// What products may round to, by the key "precision" of a case that has precision_key(); and work under that.
Key precision_key();
Precision precision_of(const Values& values);
std::function<void()> in_precision(Precision precision, std::function<void()> run);

struct Case {
  const char* name;
  const char* help;
  std::vector<Key> keys;
  Work (*prepare)(const Values&);
};

/// All cases, in the order of the help.
std::span<const Case* const> cases();

/// A case with values for all of its keys, and the text that asked for it.
struct Request {
  const Case* what;
  Values values;
  std::string line;
};

/// Reads "CASE", "key=value", …; throws UsageError for an unknown case or key and a bad value, listing the right ones.
Request parse(const std::vector<std::string>& words);
Request parse_line(const std::string& line);

/// Cases, keys, defaults and what they mean.
std::string describe_cases();

}  // namespace crisol::cli::bench
