#include "rerun/rerun.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "base/text.h"
#include "crisol/ops/copy.h"

namespace crisol::rerun {

std::int64_t Problem::operator[](const char* name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw ProblemError(concat("'", text, "' has no ", name));
  return found->second;
}

Tensor Problem::tensor(const Values& v, const Shape& shape, DType dtype) const {
  return from_bytes(reference::encoded(v, dtype).data(), shape, dtype, device);
}

std::int64_t Problem::type(int place) const {
  const auto types = values.find("types");
  return types == values.end() ? 0 : types->second >> (8 * place) & 0xff;
}

Tensor Problem::stored(Values& v, const Shape& shape, int place) const {
  const Tensor x = tensor(v, shape, static_cast<DType>(type(place)));
  if (x.dtype() != DType::f32) v = reference::values_of(x);
  return x;
}

Problem parse_problem(const std::string& line, Device device) {
  std::istringstream words(line);
  Problem problem{{}, {}, {}, 1, device};
  if (!(words >> problem.op)) throw ProblemError("a problem is empty");
  problem.text = problem.op;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const char* const first = word.data() + (equals == std::string::npos ? word.size() : equals + 1);
    const auto [at, error] = std::from_chars(first, end, value);
    // The limit for a value: no device has a tensor with a larger size.
    if (error != std::errc() || at != end || equals == 0 || value < 0 || value > (std::int64_t{1} << 40))
      throw ProblemError(concat("'", word, "' of the problem '", line, "' is not name=number"));
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

namespace {

const Maker* maker_of(const std::string& op) {
  for (const std::vector<Maker>* makers :
       {&product_makers, &row_makers, &window_makers, &axis_makers, &recurrent_makers, &movement_makers, &image_makers})
    for (const Maker& maker : *makers)
      if (op == maker.op) return &maker;
  return nullptr;
}

/// Ops with their own name that use the variants of another op.
constexpr std::array<std::pair<const char*, const char*>, 2> other_names{
    {{"embedding_backward", "index_add"}, {"sample_logits", "gather"}}};

}  // namespace

std::string_view rerun_op(std::string_view op) {
  for (const auto& [name, other] : other_names)
    if (op == name) return other;
  return op;
}

std::optional<Rerun> rerun_of(const Problem& problem) {
  const Maker* const maker = maker_of(problem.op);
  return maker == nullptr ? std::nullopt : maker->make(problem);
}

std::optional<Problem> with_sizes(const Problem& problem, const Sizes& sizes) {
  Problem resized = problem;
  resized.op = rerun_op(problem.op);
  const Maker* const maker = maker_of(resized.op);
  if (maker == nullptr) return std::nullopt;
  maker->resize(resized, sizes);
  return resized;
}

Values values_for(std::uint64_t seed, std::int64_t count) {
  Values values = reference::random_values(seed, count);
  if (!values.empty()) values.front() = 0.5;
  return values;
}

void touch(const Tensor& x) { ops::fill_into(x.reshape({-1}).narrow(0, 0, 1), 0.5); }

std::function<reference::Tolerance(std::string_view)> within(double factor, double scale) {
  return [=](std::string_view) { return reference::Tolerance{factor, scale}; };
}

std::int64_t Sizes::of(std::int64_t value, std::int64_t small) const {
  if (value <= 1) return value;
  const std::int64_t size = divisor > 0 ? std::max<std::int64_t>(3, small / divisor) : std::min(value, factor * small);
  return size <= 2 ? size : size - 1 + size % 2;
}

void resize(Problem& p, const Sizes& sizes, std::initializer_list<std::pair<const char*, std::int64_t>> small) {
  for (const auto& [name, size] : small)
    if (const auto value = p.values.find(name); value != p.values.end()) {
      const std::string_view word = name;
      const bool selects_layout = word == "batch" || word == "outer" || word == "inner";
      const std::int64_t least = sizes.divisor > 0 && !selects_layout ? 2 : 0;
      value->second = sizes.of(std::max(value->second, least), size);
    }
}

}  // namespace crisol::rerun
