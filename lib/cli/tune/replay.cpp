#include "cli/tune/replay.h"

#include <charconv>
#include <sstream>

#include "base/text.h"
#include "cli/bench/case.h"

namespace crisol::cli::tune {

using bench::UsageError;

std::int64_t Problem::operator[](const char* name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw UsageError(concat("'", text, "' has no ", name));
  return found->second;
}

Problem parse_problem(const std::string& line) {
  std::istringstream words(line);
  Problem problem;
  if (!(words >> problem.op)) throw UsageError("a problem is empty");
  problem.text = problem.op;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const char* const first = word.data() + (equals == std::string::npos ? word.size() : equals + 1);
    const auto [at, error] = std::from_chars(first, end, value);
    // No size of a tensor that a device could hold is larger.
    if (error != std::errc() || at != end || equals == 0 || value < 0 || value > (std::int64_t{1} << 40))
      throw UsageError(concat("'", word, "' of the problem '", line, "' is not name=number"));
    const std::string name = word.substr(0, equals);
    if (name == "count") {
      problem.times = value;
      continue;
    }
    problem.values[name] = value;
    problem.text += ' ' + word;
  }
  return problem;
}

std::optional<Replay> replay_of(const Problem& problem) {
  for (const std::vector<Maker>* makers :
       {&product_makers, &row_makers, &window_makers, &axis_makers, &recurrent_makers})
    for (const Maker& maker : *makers)
      if (problem.op == maker.op) return maker.make(problem);
  return std::nullopt;
}

Tensor tensor_of(const Values& values, const Shape& shape) {
  return from_bytes(reference::encoded(values, DType::f32).data(), shape, DType::f32);
}

Values values_for(std::uint64_t seed, std::int64_t count) {
  Values values = reference::random_values(seed, count);
  if (!values.empty()) values.front() = 0.5;
  return values;
}

std::function<reference::Tolerance(std::string_view)> within(double factor, double scale) {
  return [=](std::string_view) { return reference::Tolerance{factor, scale}; };
}

}  // namespace crisol::cli::tune
