#include "cli/selftest/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/text.h"
#include "crisol/device.h"
#include "crisol/dtype_table.h"
#include "crisol/error.h"
#include "crisol/profile.h"
#include "crisol/shape.h"
#include "rerun/rerun.h"

namespace crisol::cli::selftest {

std::vector<Op> all_ops() {
  std::vector<Op> all;
  for (auto* group : {pointwise, products, reductions, layers, vision, recurrent, movements, training})
    for (Op& op : group()) all.push_back(std::move(op));
  return all;
}

Outcome outcome_of(const Op& op) {
  Check check;
  const VariantLog log;
  try {
    op.run(check);
  } catch (const Error& error) {
    check.outcome.failure = error.what();
  }
  check.outcome.op = op.name;
  for (const VariantChoice& choice : log.choices())
    check.outcome.variants += (check.outcome.variants.empty() ? "" : ", ") + choice.op + ':' + choice.variant;
  return check.outcome;
}

std::vector<DType> computed_dtypes() {
  std::vector<DType> all(all_dtypes.begin(), all_dtypes.end());
  if (!Device().info().fp64) all.erase(std::find(all.begin(), all.end(), DType::f64));
  return all;
}

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype) {
  return from_bytes(reference::encoded(values, dtype).data(), shape, dtype);
}

Op from_problems(const char* name, std::vector<std::string> problems) {
  return {name, [problems = std::move(problems)](Check& check) {
            for (const std::string& problem : problems) check.rerun(problem);
          }};
}

void Check::note(double error, double bound, const char* measure) {
  // With a bound of 0, an error of 0 uses no share of the bound, and any other error exceeds it.
  const auto share = [](double e, double b) { return e == 0 ? 0 : b == 0 ? HUGE_VAL : e / b; };
  const bool first = outcome.cases++ == 0;
  if (!first && share(error, bound) < share(outcome.error, outcome.bound)) return;
  if (!first && share(error, bound) == share(outcome.error, outcome.bound) && bound <= outcome.bound) return;
  outcome.error = error;
  outcome.bound = bound;
  outcome.measure = measure;
}

bool Check::has_shape(const Tensor& actual, const Shape& shape) {
  if (actual.shape() == shape) return true;
  holds(false, "shape " + to_string(actual.shape()) + ", expected " + to_string(shape));
  return false;
}

void Check::holds(bool fact, const std::string& text) {
  ++outcome.cases;
  if (!fact && outcome.failure.empty()) outcome.failure = text;
}

void Check::rerun(const std::string& text) {
  const rerun::Problem problem = rerun::parse_problem(text);
  const std::optional<rerun::Rerun> rerun = rerun::rerun_of(problem);
  if (!rerun) return holds(false, concat("'", text, "' cannot be run"));
  const std::vector<rerun::Values> expected = rerun->reference();
  for (int use = 0; use < (rerun->renew == nullptr ? 1 : 3); ++use) {
    const VariantLog log;
    const std::vector<Tensor> results = rerun->run();
    std::string variant;
    for (const VariantChoice& choice : log.choices())
      if (choice.op == problem.op) variant = choice.variant.substr(0, choice.variant.find('/'));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (results[i].numel() == static_cast<std::int64_t>(expected[i].size()))
        close(results[i], results[i].shape(), expected[i], rerun->tolerance(variant));
      else
        holds(false, concat("shape ", results[i].shape(), ", expected ", expected[i].size(), " elements"));
    }
  }
}

void Check::close(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
                  reference::Tolerance tolerance) {
  if (!has_shape(actual, shape)) return;
  const std::vector<double> values = reference::values_of(actual);
  const reference::Difference found = reference::difference(values, expected, tolerance, actual.dtype());
  if (found.allowed == 0)
    note(static_cast<double>(found.wrong), 0, "equal");
  else
    note(found.error / found.allowed * tolerance.factor, tolerance.factor, "eps");
  if (found.wrong == 0 || !outcome.failure.empty()) return;
  std::ostringstream text;
  text.precision(9);
  text << found.wrong << " of " << values.size() << " elements of shape " << to_string(shape) << "; element "
       << found.worst << " is " << values[found.worst] << ", expected " << expected[found.worst];
  outcome.failure = text.str();
}

void Check::ulp(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, double bound) {
  if (!has_shape(actual, shape)) return;
  const std::vector<float> values = actual.to_vector<float>();
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - expected[i]) < std::numeric_limits<float>::min()) continue;
    const double error = reference::ulp_error(values[i], expected[i]);
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  note(worst, bound, "ulp");
  if (worst <= bound || !outcome.failure.empty()) return;
  std::ostringstream text;
  text.precision(9);
  text << "element " << at << " is " << values[at] << ", expected " << expected[at];
  outcome.failure = text.str();
}

}  // namespace crisol::cli::selftest
