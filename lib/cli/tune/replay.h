// Work that meets a recorded problem again: operands of its sizes, the op, and what the results must be.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"

namespace crisol::cli::tune {

/// A line "op name=value … count=N", as CRISOL_RECORD_SHAPES writes it.
struct Problem {
  std::string op;
  std::map<std::string, std::int64_t> values;
  std::string text;  ///< Without the count.
  std::int64_t times = 1;

  /// Throws bench::UsageError where there is no such value.
  std::int64_t operator[](const char* name) const;
  int small(const char* name) const { return static_cast<int>((*this)[name]); }
};
/// Throws bench::UsageError for any other text.
Problem parse_problem(const std::string& line);

using Values = std::vector<double>;

struct Replay {
  /// Runs the op; returns what it computed.
  std::function<std::vector<Tensor>()> run;
  /// Writes weights, as a training does between two uses, so that nothing made from them is used again; or nothing.
  std::function<void()> renew = {};
  /// The results by plain loops in double; nothing where the op has none.
  std::function<std::vector<Values>()> reference = {};
  double effort = 0;  ///< Multiply-adds, or elements, of the reference.
  /// What rounding may do to the results of a variant.
  std::function<reference::Tolerance(std::string_view variant)> tolerance;
};

/// Nothing where the problem cannot be made again: of an op that is only part of another one, or of a kind that only
/// other ops make.
std::optional<Replay> replay_of(const Problem& problem);

/// The ops of each file.
struct Maker {
  const char* op;
  std::optional<Replay> (*make)(const Problem&);
};
extern const std::vector<Maker> product_makers;
extern const std::vector<Maker> row_makers;
extern const std::vector<Maker> window_makers;
extern const std::vector<Maker> axis_makers;
extern const std::vector<Maker> recurrent_makers;

/// A contiguous tensor of f32 values.
Tensor tensor_of(const Values& values, const Shape& shape);
/// Values in (-1, 1), the first of them 0.5, which bench::touch writes.
Values values_for(std::uint64_t seed, std::int64_t count);
/// The same tolerance for every variant.
std::function<reference::Tolerance(std::string_view)> within(double factor, double scale = 0);

}  // namespace crisol::cli::tune
