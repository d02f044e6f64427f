// The precision to which products may be rounded: the setting that counts in each thread, in backward and in graphs.
#include "crisol/precision.h"

#include <cmath>
#include <thread>

#include "crisol/capture.h"
#include "crisol/functions/matmul.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "ops/product/matrix_units.h"
#include "support/compare.h"
#include "support/processes/program.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::broken_matrix_units;
using testing::contains;
using testing::run_built;
using testing::tensor_of;
using testing::words_of;

/// Restores the process's precision, because other tests use it too.
struct SetPrecision {
  explicit SetPrecision(Precision wanted) : before(precision()) { set_precision(wanted); }
  ~SetPrecision() { set_precision(before); }
  const Precision before;
};

Precision of_another_thread() {
  Precision seen = Precision::fp32;
  std::thread([&] { seen = precision(); }).join();
  return seen;
}

}  // namespace

TEST_CASE("precision: fp32 at first; a thread's own goes before that of the process, the innermost first") {
  CHECK(precision() == Precision::fp32);
  {
    const SetPrecision set(Precision::tf32);
    CHECK(precision() == Precision::tf32);
    CHECK(of_another_thread() == Precision::tf32);
    {
      const WithPrecision outer(Precision::bf16);
      const WithPrecision inner(Precision::fp32);
      CHECK(precision() == Precision::fp32);
      CHECK(of_another_thread() == Precision::tf32);
    }
    CHECK(precision() == Precision::tf32);
  }
  CHECK(precision() == Precision::fp32);
}

TEST_CASE("precision: backward computes in the precision of the forward pass") {
  if (const std::string reason = broken_matrix_units(); !reason.empty()) CRISOL_SKIP(reason);
  const ForcedVariant forced("matmul", "matrix");  // This variant refuses fp32.
  const double value = 1 + std::ldexp(1.0, -8);    // bf16 rounds it to 1: the tie goes to the even number.
  Tensor x = tensor_of(std::vector<double>(6, 1.0), {2, 3});
  x.requires_grad_();
  const Tensor weight = tensor_of(std::vector<double>(12, value), {3, 4});
  Tensor y;
  {
    const WithPrecision rounded(Precision::bf16);
    y = matmul(x, weight);
  }
  testing::check_close(y, std::vector<double>(8, 3.0), {0});
  y.backward(tensor_of(std::vector<double>(8, value), {2, 4}));
  testing::check_close(x.grad(), std::vector<double>(6, 4.0), {0});
}

TEST_CASE("precision: a capture keeps that with which it was captured") {
  if (const std::string reason = broken_matrix_units(); !reason.empty()) CRISOL_SKIP(reason);
  const ForcedVariant forced("matmul", "matrix");
  const double value = 1 + std::ldexp(1.0, -8);
  const Tensor x = tensor_of(std::vector<double>(6, value), {2, 3});
  const Tensor weight = tensor_of(std::vector<double>(12, value), {3, 4});
  Tensor y;
  const auto work = [&] { y = ops::matmul(x, weight); };
  const CapturedGraph graph = [&] {
    const WithPrecision rounded(Precision::bf16);
    return capture(work);
  }();
  y.copy_from(tensor_of(std::vector<double>(8, 0.0), {2, 4}));
  graph.replay();
  testing::check_close(y, std::vector<double>(8, 3.0), {0});
}

TEST_CASE("precision: devices without matrix units compute in fp32") {
  if (!ops::matrix_units(Device(), Precision::bf16).unit.empty()) CRISOL_SKIP("the device has matrix units");
  const std::string reason = ops::matrix_units(Device(), Precision::bf16).reason;
  CHECK((contains(reason, "matrix units") || !broken_matrix_units().empty()));
  CHECK(ops::matrix_units(Device(), Precision::fp32).unit.empty());
  const double value = 1 + std::ldexp(1.0, -8);
  const WithPrecision rounded(Precision::bf16);
  const Tensor y = ops::matmul(tensor_of({value, value}, {1, 2}), tensor_of({1, 1}, {2, 1}));
  testing::check_close(y, {2 * value}, {0});
}

TEST_CASE("precision: CRISOL_PRECISION names it") {
  if (testing::built_program("crisol").empty()) CRISOL_SKIP("the crisol program is not built");
  if (testing::slow_launches()) CRISOL_SKIP("the same whatever implementation there is");
  const auto run = [](const char* value) {
    return run_built("crisol", words_of("bench net net=simplecnn batch=1 mode=infer"),
                     {{"CRISOL_PRECISION", value}, {"CRISOL_VERBOSE", "dispatch"}});
  };
  const testing::ProcessResult wrong = run("fp8");
  CHECK(wrong.status != 0);
  CHECK(contains(wrong.output, "[CRISOL_PRECISION] 'fp8' is none of fp32, tf32, fp16, bf16"));
  const testing::ProcessResult right = run("fp16");
  CHECK(right.status == 0);
  CHECK(!contains(right.output, "matrix refused: the precision is fp32"));
}

}  // namespace crisol
