// One line of `crisol selftest`: an op compared with its reference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisol/tensor.h"
#include "reference/compare.h"

namespace crisol::cli::selftest {

/// The result of comparing an op. `error` and `bound` belong to the comparison that came closest to its bound.
/// `measure` is their unit. "ulp": units in the last place of each result. "eps": epsilon times the magnitude of the
/// rounded values. "equal": the number of wrong elements.
struct Outcome {
  std::string op;
  int cases = 0;
  double error = 0, bound = 0;
  const char* measure = "equal";
  std::string failure;   ///< The error or the exception's text; empty if the op is right.
  std::string variants;  ///< The variants that ran.
};

/// Collects the comparisons of one op.
class Check {
 public:
  /// Checks that the results have the shape, and that the values agree within rounding. A tolerance of 0 asks for equal
  /// values.
  void close(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
             reference::Tolerance tolerance);
  void equal(const Tensor& actual, const Shape& shape, const std::vector<double>& expected) {
    close(actual, shape, expected, {0});
  }
  /// Checks that f32 results are within `bound` units in the last place. If the device flushes numbers below 2^-126 to
  /// zero, an error of 2^-126 is also allowed.
  void ulp(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, double bound);
  /// Runs a problem (see lib/rerun/rerun.h) and checks its results. If the op has a weight, it runs three times:
  /// packed copies of the weight are made at the second use.
  void rerun(const std::string& problem);
  /// Checks any other fact.
  void holds(bool fact, const std::string& text);

  Outcome outcome;

 private:
  void note(double error, double bound, const char* measure);
  bool has_shape(const Tensor& actual, const Shape& shape);
};

/// An op and the function that checks it.
struct Op {
  std::string name;
  std::function<void(Check&)> run;
};

/// An op that reruns of these problems check.
Op from_problems(const char* name, std::vector<std::string> problems);

/// The ops of each file, in the order of the report.
std::vector<Op> pointwise();
std::vector<Op> products();
std::vector<Op> reductions();
std::vector<Op> layers();
std::vector<Op> vision();
std::vector<Op> recurrent();
std::vector<Op> movements();
std::vector<Op> training();

/// The ops of all files.
std::vector<Op> all_ops();

/// Checks an op on the default device.
Outcome outcome_of(const Op& op);

/// The types that the default device computes with: all but f64, which wants double precision.
std::vector<DType> computed_dtypes();

/// A contiguous tensor of values.
Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype = DType::f32);

}  // namespace crisol::cli::selftest
