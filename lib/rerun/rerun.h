// A rerun runs a problem again, with operands of the problem's sizes, and knows the expected results. `crisol tune`
// measures a rerun with each variant. On a driver that nobody has tried, dispatch tries a variant with a small
// rerun.
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

namespace crisol::rerun {

/// Thrown for a text that is not a problem.
struct ProblemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Values = std::vector<double>;

/// A line "op name=value … count=N", as CRISOL_PROBLEM_LOG writes it.
struct Problem {
  std::string op;
  std::map<std::string, std::int64_t> values;
  std::string text;  ///< The text without the count.
  std::int64_t times = 1;
  Device device;

  /// Throws ProblemError if there is no such value.
  std::int64_t operator[](const char* name) const;
  int small(const char* name) const { return static_cast<int>((*this)[name]); }
  /// The type in byte `place` of the problem's types. It is 0 if they do not tell it.
  std::int64_t type(int place) const;
  /// A contiguous tensor with these values, on the problem's device.
  Tensor tensor(const Values& values, const Shape& shape, DType dtype = DType::f32) const;
  /// The same in a type of the problem: the one in which its operands are stored, or the other one in byte `place` of
  /// its types. The values become what the tensor holds.
  Tensor stored(Values& values, const Shape& shape, int place = 0) const;
};
/// Throws ProblemError for a text in another format.
Problem parse_problem(const std::string& line, Device device = Device());

struct Rerun {
  /// Runs the op and returns its results.
  std::function<std::vector<Tensor>()> run;
  /// Writes the weights, as training does between two uses. So packed copies of the weights are not used again. Empty
  /// for ops without weights.
  std::function<void()> renew = {};
  /// Computes the results by plain loops in double.
  std::function<std::vector<Values>()> reference = {};
  double operations = 0;  ///< The number of multiply-adds or elements that the reference processes.
  /// The allowed rounding error of a variant's results.
  std::function<reference::Tolerance(std::string_view variant)> tolerance;
};

/// The op whose variants `op` uses. It is another op if `op` only runs that op under another name, otherwise `op`
/// itself.
std::string_view rerun_op(std::string_view op);

/// Makes a rerun of the problem. Returns nothing if the problem cannot be run alone: its op is only a part of another
/// op, or only other ops make this kind of problem.
std::optional<Rerun> rerun_of(const Problem& problem);

/// How a problem is made small. Each size of a problem has a small size. With divisor 0, a size is kept but limited to
/// `factor` times its small size. Otherwise a size becomes its small size divided by `divisor`. Results above 2 are
/// made odd.
struct Sizes {
  std::int64_t factor = 1;
  std::int64_t divisor = 0;  ///< 0: keeps the problem's own sizes, limited by `factor`.

  /// The new size for a size `value` whose small size is `small`. A size of one stays one, because it selects a layout.
  std::int64_t of(std::int64_t value, std::int64_t small) const;
};

/// The problem with small sizes. If possible it uses the same programs. A kind of problem that cannot be run alone is
/// replaced by a kind that can. Returns nothing for an unknown op.
std::optional<Problem> with_sizes(const Problem& problem, const Sizes& sizes);

/// An op and its functions. Each file has a list of its ops.
struct Maker {
  const char* op;
  std::optional<Rerun> (*make)(const Problem&);
  void (*resize)(Problem&, const Sizes&);
};
extern const std::vector<Maker> product_makers;
extern const std::vector<Maker> row_makers;
extern const std::vector<Maker> window_makers;
extern const std::vector<Maker> axis_makers;
extern const std::vector<Maker> recurrent_makers;
extern const std::vector<Maker> movement_makers;
extern const std::vector<Maker> image_makers;

/// Values in (-1, 1). The first value is 0.5, and touch() writes it again.
Values values_for(std::uint64_t seed, std::int64_t count);
/// Writes the first value, 0.5, again. So the tensor counts as written.
void touch(const Tensor& x);
/// The same tolerance for every variant.
std::function<reference::Tolerance(std::string_view)> within(double factor, double scale = 0);
/// Resizes the sizes of a problem that `small` names, each by its small size. With a divisor, a size of one grows,
/// unless it selects a layout.
void resize(Problem& p, const Sizes& sizes, std::initializer_list<std::pair<const char*, std::int64_t>> small);

}  // namespace crisol::rerun
