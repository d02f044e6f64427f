// The f32 accuracy of every row over its whole range. The tests also check the values at the edges: zeros, subnormal
// numbers, the largest numbers, infinity, NaN.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/pointwise/pointwise_check.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Floats of all magnitudes and signs, evenly spaced in their bit patterns. They are shuffled, because a function of a
// vector may take another way for all elements if one of them is large.
std::vector<float> all_floats(std::uint32_t stride) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride)
    values.push_back(from_bits(static_cast<std::uint32_t>(bits)));
  std::shuffle(values.begin(), values.end(), std::mt19937(1));
  return values;
}

// Mesa's llvmpipe breaks OpenCL's bounds for exp2, fmod of subnormal numbers and lgamma(-inf). It also has no FMA,
// which the forms for CPUs need.
bool is_rusticl() { return Device().info().platform == "rusticl"; }
constexpr const char* inexact = "llvmpipe's functions are not within OpenCL's bounds";

// Half of the numbers have any magnitude, the others are between -8 and 8.
std::vector<float> random_floats(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        i % 2 == 0 ? from_bits(static_cast<std::uint32_t>(random())) : static_cast<float>(random()) * 0x1p-28f - 8;
  return values;
}

std::vector<RowUnderTest> rows_of(std::size_t inputs) {
  std::vector<RowUnderTest> rows;
  for (const RowUnderTest& row : table_rows())
    if (row.row->input_count == inputs && row.row->rule != ops::RowRule::choice && row.row->rule != ops::RowRule::fill)
      rows.push_back(row);
  return rows;
}

// Devices may treat subnormal numbers as zero, and return zero instead of them.
bool keeps_subnormal_numbers() {
  static const bool keeps = [] { return (from_vector<float>({from_bits(1)}) * 1.0f).item() != 0; }();
  return keeps;
}

struct Worst {
  double error = 0;
  std::size_t at = 0;
};

// The error in ulp, or 0 if it is within the table's allowance near zero.
double error_of(float actual, double exact) {
  const double least = std::numeric_limits<float>::min();
  const double allowed = !keeps_subnormal_numbers() && std::abs(exact) < least ? least : 0x1p-142;
  return exact != 0 && std::abs(actual - exact) <= allowed ? 0 : ulp_error(actual, exact);
}

// The largest error of one row in ulp; `expected(i)` is exact.
template <class Expected>
Worst worst_of(const std::vector<float>& results, Expected expected) {
  Worst worst;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double error = error_of(results[i], expected(i));
    if (error > worst.error) worst = {error, i};
  }
  return worst;
}

// The C library of mingw-w64 reduces the argument of sine and cosine by a π of 66 bits. So its results lose digits as
// the argument grows, and from 2^63 on it computes none.
bool has_reference([[maybe_unused]] const ops::PointwiseRow& row, [[maybe_unused]] double x) {
#ifdef _WIN32
  const std::string name = row.name;
  return (name != "sin" && name != "cos") || !std::isfinite(x) || std::abs(x) < 0x1p24;
#else
  return true;
#endif
}

// Prints the table only on request.
template <class... Values>
void print(const char* format, Values... values) {
  if (std::getenv("CRISOL_PRINT_ACCURACY") != nullptr) std::printf(format, values...);
}

// Prints a row of the table, and checks it against the row's bound if it has one.
void report(const RowUnderTest& row, const Worst& worst, const std::string& at) {
  const double bound = row.reference->ulp;
  print("  %-12s %10.3g ulp at %-28s bound %s\n", row.row->name, worst.error, at.c_str(),
        bound == 0 ? "none" : std::to_string(bound).substr(0, 4).c_str());
  CAPTURE(std::string(row.row->name));
  CAPTURE(at);
  if (bound != 0) CHECK(worst.error <= bound);
}

std::string text(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(value));
  return buffer;
}

}  // namespace

TEST_CASE("pointwise accuracy: unary rows over all floats") {
  if (is_rusticl()) CRISOL_SKIP(inexact);
  const std::vector<float> x = all_floats(slow_device() ? 0x00fff001 : 4099);
  const std::vector<RowUnderTest> rows = rows_of(1);
  const Tensor input = from_vector(x);
  print("largest errors over %zu floats:\n", x.size());
  const std::vector<Tensor> results = run_rows(rows, {input}, zeros({1}, DType::boolean), Program::as_used);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (results[r].dtype() != DType::f32) continue;
    const reference::Elementwise& reference = *rows[r].reference;
    const std::vector<float> values = results[r].to_vector<float>();
    const Worst worst = worst_of(values, [&](std::size_t i) {
      const double value = x[i];
      return has_reference(*rows[r].row, value) ? reference.forward(&value, reference.scalars.data()) : values[i];
    });
    report(rows[r], worst, text(x[worst.at]));
  }
}

TEST_CASE("pointwise accuracy: binary rows over pairs of floats") {
  if (is_rusticl()) CRISOL_SKIP(inexact);
  const std::size_t count = slow_device() ? 500 : 400000;
  const std::vector<float> a = random_floats(1, count), b = random_floats(2, count);
  const std::vector<RowUnderTest> rows = rows_of(2);
  print("largest errors over %zu pairs:\n", count);
  const std::vector<Tensor> results =
      run_rows(rows, {from_vector(a), from_vector(b)}, zeros({1}, DType::boolean), Program::as_used);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (results[r].dtype() != DType::f32) continue;
    const reference::Elementwise& reference = *rows[r].reference;
    const Worst worst = worst_of(results[r].to_vector<float>(), [&](std::size_t i) {
      const double values[] = {a[i], b[i]};
      return reference.forward(values, reference.scalars.data());
    });
    report(rows[r], worst, text(a[worst.at]) + ", " + text(b[worst.at]));
  }
}

TEST_CASE("pointwise accuracy: zeros, subnormal and largest numbers, infinity, NaN") {
  if (is_rusticl()) CRISOL_SKIP(inexact);
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  std::vector<float> edges{0, 0x1p-149f, 0x1.8p-130f, 0x1p-126f, 0x1p-60f, 0.5f, 1,   1.5f,  2,       2.5f,
                           3, 6,         20,          88,        89,       103,  104, 1e10f, largest, infinity};
  for (std::size_t i = 0, n = edges.size(); i < n; ++i) edges.push_back(-edges[i]);
  edges.push_back(std::nanf(""));
  // All pairs of edge values. The third operand has moderate values.
  std::vector<float> a, b, c;
  for (const float first : edges)
    for (const float second : edges) {
      a.push_back(first);
      b.push_back(second);
      c.push_back(static_cast<float>(a.size() % 7) - 3);
    }
  const auto count = static_cast<std::int64_t>(a.size());
  std::vector<double> mask;
  for (std::int64_t i = 0; i < count; ++i) mask.push_back(static_cast<double>(i % 2));
  const std::vector<RowUnderTest>& rows = table_rows();
  const std::vector<Tensor> results =
      run_rows(rows, {from_vector(a), from_vector(b), from_vector(c)}, tensor_of(mask, {count}, DType::boolean));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    CAPTURE(std::string(rows[r].row->name));
    const reference::Elementwise& reference = *rows[r].reference;
    // In sums of products, f32 overflows at an intermediate value, and double does not.
    const bool overflows = rows[r].row->input_count == 3 && rows[r].row->rule != ops::RowRule::choice &&
                           rows[r].row->rule != ops::RowRule::fill;
    const std::vector<double> actual = values_of(results[r]);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      double inputs[3] = {a[i], b[i], c[i]};
      for (std::size_t k = 0; k < 3; ++k)
        if (rows[r].row->is_condition(k)) inputs[k] = mask[i];
      if (!has_reference(*rows[r].row, a[i])) continue;
      if (overflows && (std::abs(a[i]) > 1e10f || std::abs(b[i]) > 1e10f)) continue;
      const double expected = reference.forward(inputs, reference.scalars.data());
      const auto is = static_cast<float>(actual[i]);
      const double error = error_of(is, expected);
      const double allowed = reference.ulp != 0 ? reference.ulp : 16 * std::max(1.0, 1 / std::abs(expected));
      if (error <= allowed) continue;
      CHECK_MESSAGE(false, "of (" << a[i] << ", " << b[i] << ", " << c[i] << "): " << is << ", expected " << expected);
      break;
    }
  }
}
