// Work that meets a problem again: operands of its sizes, the op, and what the results must be. `crisol tune` measures
// it with each variant; dispatch makes it small and tries a variant with it on a driver that nobody has tried.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"

namespace crisol::replay {

/// A text that is no problem.
struct ProblemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Values = std::vector<double>;

/// A line "op name=value … count=N", as CRISOL_RECORD_SHAPES writes it.
struct Problem {
  std::string op;
  std::map<std::string, std::int64_t> values;
  std::string text;  ///< Without the count.
  std::int64_t times = 1;
  Device device;

  /// Throws ProblemError where there is no such value.
  std::int64_t operator[](const char* name) const;
  int small(const char* name) const { return static_cast<int>((*this)[name]); }
  /// A contiguous tensor of values on the device.
  Tensor tensor(const Values& values, const Shape& shape, DType dtype = DType::f32) const;
};
/// Throws ProblemError for any other text.
Problem parse_problem(const std::string& line, Device device = Device());

struct Replay {
  /// Runs the op; returns what it computed.
  std::function<std::vector<Tensor>()> run;
  /// Writes weights, as a training does between two uses, so that nothing made from them is used again; or nothing.
  std::function<void()> renew = {};
  /// The results by plain loops in double.
  std::function<std::vector<Values>()> reference = {};
  double effort = 0;  ///< Multiply-adds, or elements, of the reference.
  /// What rounding may do to the results of a variant.
  std::function<reference::Tolerance(std::string_view variant)> tolerance;
};

/// The op whose variants those of an op are: another one's under a name of its own, or its own.
std::string_view replayed_op(std::string_view op);

/// Nothing where the problem cannot be made again: of an op that is only part of another one, or of a kind that only
/// other ops make.
std::optional<Replay> replay_of(const Problem& problem);

/// What small sizes a problem gets: its own, cut to `factor` times the small size of each; or, whatever its own are,
/// the small sizes divided by `divisor`. All odd, but for those up to 2.
struct Sizes {
  std::int64_t factor = 1;
  std::int64_t divisor = 0;  ///< 0: the problem's own, cut.

  /// For a size `value` that is small at `small`. One stays one: it selects a layout.
  std::int64_t of(std::int64_t value, std::int64_t small) const;
};

/// The problem with small sizes, as nearly as it goes by the same programs; of a kind that can be made again where it
/// is of one that cannot. Nothing for an op that is not known.
std::optional<Problem> with_sizes(const Problem& problem, const Sizes& sizes);

/// The ops of each file.
struct Maker {
  const char* op;
  std::optional<Replay> (*make)(const Problem&);
  void (*resize)(Problem&, const Sizes&);
};
extern const std::vector<Maker> product_makers;
extern const std::vector<Maker> row_makers;
extern const std::vector<Maker> window_makers;
extern const std::vector<Maker> axis_makers;
extern const std::vector<Maker> recurrent_makers;
extern const std::vector<Maker> movement_makers;

/// Values in (-1, 1), the first of them 0.5, which touch() writes.
Values values_for(std::uint64_t seed, std::int64_t count);
/// Writes that first value.
void touch(const Tensor& x);
/// The same tolerance for every variant.
std::function<reference::Tolerance(std::string_view)> within(double factor, double scale = 0);
/// Gives some of a problem's values, if it has them, the size that belongs to each of these small ones; one grows with
/// a divisor, unless it selects a layout.
void resize(Problem& p, const Sizes& sizes, std::initializer_list<std::pair<const char*, std::int64_t>> small);

}  // namespace crisol::replay
