#include "cli/bench/case.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "cli/bench/groups.h"
#include "cli/suggest.h"
#include "crisol/dtype_table.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

// Every case takes this key; measure.h describes its effect.
const Key wait_key{"wait", "0", "0|1",
                   "1: waits after every run, so that the time is a latency; 0: waits after many runs"};

std::vector<Key> keys_of(const Case& what) {
  std::vector<Key> keys = what.keys;
  keys.push_back(wait_key);
  return keys;
}

template <class List, class NameOf>
std::string joined(const List& list, const NameOf& name_of) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + std::string(name_of(entry));
  return text;
}

const Case& find_case(const std::string& name) {
  for (const Case* what : cases())
    if (name == what->name) return *what;
  const std::string all = joined(cases(), [](const Case* what) { return what->name; });
  if (name.empty()) throw UsageError("no case is given; there are: " + all);
  std::vector<std::string> known;
  for (const Case* what : cases()) known.push_back(what->name);
  const std::string meant = did_you_mean(name, known);
  throw UsageError(
      concat("there is no case '", name, "'", meant, meant.empty() ? "; there are: " : " There are: ", all));
}

bool is_number_at_least(const std::string& value, long long least) {
  constexpr std::size_t max_digits = 15;
  const bool digits = !value.empty() && value.size() <= max_digits &&
                      std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && std::stoll(value) >= least;
}

bool is_allowed(const Key& key, const std::string& value) {
  if (key.allowed.starts_with(">=")) return is_number_at_least(value, std::stoll(key.allowed.substr(2)));
  std::istringstream words(key.allowed);
  for (std::string word; std::getline(words, word, '|');)
    if (word == value) return true;
  return false;
}

void assign(const Case& what, const std::string& word, Values& values) {
  const std::vector<Key> keys = keys_of(what);
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return name == k.name; });
  if (equals == std::string::npos || key == keys.end())
    throw UsageError(concat(what.name, " has no key '", name, "'; write key=value with one of: ",
                            joined(keys, [](const Key& k) { return std::string(k.name) + '=' + k.initial; })));
  const std::string value = word.substr(equals + 1);
  if (!is_allowed(*key, value))
    throw UsageError(concat(what.name, ": ", name, " cannot be '", value, "'; it takes ",
                            key->allowed.starts_with(">=") ? "a whole number " : "", key->allowed));
  values.set(name, value);
}

}  // namespace

Request parse(const std::vector<std::string>& words) {
  const Case& what = find_case(words.empty() ? std::string() : words.front());
  Request request{&what, {}, what.name};
  for (const Key& key : keys_of(what)) request.values.set(key.name, key.initial);
  for (std::size_t i = 1; i < words.size(); ++i) {
    assign(what, words[i], request.values);
    request.line += ' ' + words[i];
  }
  return request;
}

Request parse_line(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return parse(words);
}

std::string describe_cases() {
  std::ostringstream out;
  const auto describe_key = [&](const Key& key) {
    out << "    " << key.name << '=' << key.initial << "  (" << key.allowed << ")  " << key.help << '\n';
  };
  for (const Case* what : cases()) {
    out << what->name << ": " << what->help << '\n';
    for (const Key& key : what->keys) describe_key(key);
  }
  out << "every case:\n";
  describe_key(wait_key);
  return out.str();
}

Key precision_key() {
  return {"precision", "default", "default|fp32|tf32|fp16|bf16",
          "what operands of products may be rounded to, on matrix units; default: as CRISOL_PRECISION says"};
}

Precision precision_of(const Values& values) {
  for (const Precision known : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16})
    if (values.is("precision", name_of(known))) return known;
  return precision();
}

Key dtype_key() { return {"dtype", "f32", "f32|f16|bf16", "of operands and results in memory; sums are f32"}; }

Key dtype_or_i8_key() {
  Key key = dtype_key();
  key.allowed += "|i8";
  key.help = "of operands in memory, and of results if the op keeps it; halves are added in f32";
  return key;
}

DType dtype_of(const Values& values) {
  for (const DType dtype : all_dtypes)
    if (values.is("dtype", dtype_row(dtype).name)) return dtype;
  return DType::f32;
}

Tensor numbers(const Values& values, const Shape& shape) { return randn(shape).to(dtype_of(values)); }

double element_bytes(const Values& values) { return static_cast<double>(size_of(dtype_of(values))); }

std::function<void()> in_precision(Precision precision, std::function<void()> run) {
  return [precision, run = std::move(run)] {
    const WithPrecision same(precision);
    run();
  };
}

}  // namespace crisol::cli::bench
