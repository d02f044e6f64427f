// One line of `crisol selftest`: an op compared with its reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"

namespace crisol::cli::selftest {

/// What comparing an op found. `error` and `bound` are those of the comparison that came closest to its bound, in units
/// of `measure`: "ulp" of each result; "eps", of epsilon times the magnitude of what is rounded; or "equal", wrong
/// elements.
struct Outcome {
  std::string op;
  int cases = 0;
  double error = 0, bound = 0;
  const char* measure = "equal";
  std::string failure;   ///< What is wrong, or what was thrown; empty when nothing is.
  std::string variants;  ///< Those that ran.
};

/// Gathers an op's comparisons.
class Check {
 public:
  /// Results must have the shape, and values within rounding; a tolerance of 0 wants them equal.
  void close(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
             reference::Tolerance tolerance);
  void equal(const Tensor& actual, const Shape& shape, const std::vector<double>& expected) {
    close(actual, shape, expected, {0});
  }
  /// f32 results must be within so many units of their last place, or within 2^-126 where the device takes smaller
  /// numbers for zero.
  void ulp(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, double bound);
  /// What else must hold.
  void holds(bool fact, const std::string& text);

  Outcome outcome;

 private:
  void note(double error, double bound, const char* measure);
  bool has_shape(const Tensor& actual, const Shape& shape);
};

/// An op, and what compares it.
struct Op {
  std::string name;
  std::function<void(Check&)> run;
};

/// The ops of each file, in the order of the report.
std::vector<Op> pointwise();
std::vector<Op> products();
std::vector<Op> reductions();
std::vector<Op> layers();
std::vector<Op> recurrent();
std::vector<Op> movements();
std::vector<Op> training();

/// Those of all files.
std::vector<Op> all_ops();

/// Compares an op on the default device.
Outcome outcome_of(const Op& op);

/// A contiguous tensor of values.
Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype = DType::f32);

}  // namespace crisol::cli::selftest
