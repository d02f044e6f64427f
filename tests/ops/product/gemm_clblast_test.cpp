// Products by CLBlast: the choice, the refusals, long sums, captures, profiles, threads, and a machine without CLBlast.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/view.h"
#include "crisol/profile.h"
#include "crisol/tuning.h"
#include "crisol/verification.h"
#include "dispatch/verification.h"
#include "doctest/doctest.h"
#include "ops/product/gemm_operands.h"
#include "reference/images/conv2d.h"
#include "reference/matmul.h"
#include "runtime/clblast.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/processes/program.h"
#include "support/skip.h"
#include "tensor/capture_planned.h"

using namespace crisol;
using namespace crisol::testing;

#define NEEDS_CLBLAST() \
  if (!clblast().must_run) CRISOL_SKIP("CLBlast is not installed, or takes too long here")

namespace {

constexpr const char* measured = "the library's own kernels were measured on this device";

Tolerance tolerance(std::int64_t k) { return {2, static_cast<double>(k + 1)}; }

DeviceInfo device_named(const std::string& name, DeviceType type = DeviceType::gpu) {
  DeviceInfo info;
  info.name = name;
  info.type = type;
  info.compute_units = 36;
  info.local_memory = 64 << 10;
  info.max_work_group = 256;
  info.max_allocation = std::uint64_t{4} << 30;
  return info;
}

std::string refusal_of_clblast(const ops::GemmProblem& problem, const DeviceInfo& info) {
  return reason_of(ops::plan_gemm_clblast(problem, testing::target_of(info), dispatch::own_config));
}

// The answers of all variants, as `crisol tune` sees them.
std::vector<TuningCandidate> candidates_on(const DeviceInfo& info) {
  const ops::GemmProblem problem = contiguous_problem(64, 64, 64);
  return describe(ops::gemm_table, &problem, testing::target_of(info)).candidates;
}

Tensor product_of_ones(std::int64_t k) { return ops::matmul(ones({3, k}), ones({k, 2})); }

}  // namespace

TEST_CASE("gemm clblast: never chosen by rules; tuning tries it last, and not where the own kernels were measured") {
  NEEDS_OWN_CHOICES();
  DeviceInfo card = device_named("Ellesmere"), h100 = device_named("NVIDIA H100 80GB HBM3"),
             cpu = device_named("a CPU", DeviceType::cpu);
  h100.platform = "NVIDIA CUDA";
  cpu.platform = "Portable Computing Language";
  cpu.native_float_width = 8;
  const ops::GemmProblem problem = contiguous_problem(64, 64, 64);
  for (const DeviceInfo* info : {&card, &h100, &cpu})
    CHECK(ops::choose_gemm(problem, testing::target_of(*info)).variant != "clblast");
  CHECK(candidates_on(card).back().variant == "clblast");
  const char* const missing = runtime::against_clblast();
  const std::string refusal = missing == nullptr ? "" : missing;
  CHECK(candidates_on(card).back().refusal == refusal);
  for (const DeviceInfo* info : {&h100, &cpu})
    CHECK(candidates_on(*info).back().refusal == (missing == nullptr ? measured : refusal));
  if (missing != nullptr) return;
  const ForcedVariant forced("matmul", "clblast");
  for (const DeviceInfo* info : {&card, &h100, &cpu})
    CHECK(ops::choose_gemm(problem, testing::target_of(*info)).variant == "clblast");
}

TEST_CASE("gemm clblast: the products that it refuses") {
  const DeviceInfo card = device_named("Ellesmere");
  ops::GemmProblem problem = contiguous_problem(8, 9, 10);
  problem.c = {18, 2};
  CHECK(contains(refusal_of_clblast(problem, card), "of the result are not contiguous"));
  CHECK(contains(refusal_of_clblast(contiguous_problem(1 << 16, 9, 1 << 15), card), "too large"));
  DeviceInfo simulator = card;
  simulator.platform = "Oclgrind";
  CHECK(contains(refusal_of_clblast(contiguous_problem(8, 9, 10), simulator), "simulator"));
  const Tensor x = ones({4, 4});
  const runtime::BufferView first = in(x), far{first.block, std::uint64_t{1} << 31};
  const runtime::ClblastProduct product{4, 4, 4, 1, 0, {{{4, 0, 0}, {4, 0, 0}, {4, 0, 0}}}};
  const runtime::KernelArg args[] = {far, first, first, {&product, sizeof product}};
  check_error([&] { runtime::enqueue_clblast(state_of(x), args); }, {"[matmul]", "32 bits", "2147483648"});
}

TEST_CASE("gemm clblast: sizes, transposed operands, batches") {
  NEEDS_CLBLAST();
  const MustRun variants("matmul", {clblast()});
  const struct {
    Shape a, b;
  } cases[] = {{{1, 1}, {1, 1}},     {{1, 3}, {3, 7}},          {{5, 9}, {9, 1}},        {{13, 5}, {5, 25}},
               {{65, 64}, {64, 97}}, {{3, 0}, {0, 4}},          {{130, 515}, {515, 70}}, {{3, 5, 4}, {3, 4, 6}},
               {{3, 5, 4}, {4, 6}},  {{2, 1, 5, 4}, {3, 4, 6}}, {{4, 1, 3}, {4, 3, 1}}};
  for (const auto& c : cases) {
    CAPTURE(c.a);
    CAPTURE(c.b);
    const std::vector<double> a = random_values(5, c.a.numel()), b = random_values(6, c.b.numel());
    const reference::Product expected = reference::matmul(a, c.a, b, c.b);
    const auto stored = [](const Tensor& x) { return x.transpose(-2, -1).contiguous().transpose(-2, -1); };
    const Tensor left = tensor_of(a, c.a), right = tensor_of(b, c.b);
    for (const Tensor& x : {left, stored(left)})
      for (const Tensor& y : {right, stored(right)})
        for_each_variant(
            variants, [&] { check_close(ops::matmul(x, y), expected.shape, expected.values, tolerance(c.a.back())); });
  }
}

TEST_CASE("gemm clblast: operands that CLBlast does not take are copied") {
  NEEDS_CLBLAST();
  const ForcedVariant forced("matmul", "clblast");
  const std::int64_t batch = 2, m = 4, n = 5, k = 6;
  const std::vector<double> a = random_values(7, 200), b = random_values(8, 200);
  // Expanded rows and columns, rows that overlap, and both axes with strides. A batch shares a matrix or has its own.
  const ops::MatrixLayout layouts[] = {{0, 1, 50}, {1, 0, 50}, {0, 0, 0}, {2, 1, 50}, {9, 2, 30}, {1, 2, 0}};
  const Tensor left = tensor_of(a, {200}), right = tensor_of(b, {200});
  const auto at = [](const std::vector<double>& values, const ops::MatrixLayout& of, std::int64_t p, std::int64_t i,
                     std::int64_t j) {
    return values[static_cast<std::size_t>(p * of.batch + i * of.row + j * of.column)];
  };
  for (const ops::MatrixLayout& x : layouts)
    for (const ops::MatrixLayout& y : layouts) {
      std::vector<double> expected;
      for (std::int64_t p = 0; p < batch; ++p)
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l) sum += at(a, x, p, i, l) * at(b, y, p, l, j);
            expected.push_back(sum);
          }
      const Tensor z = full({batch, m, n}, NAN);
      ops::gemm({.device = state_of(z),
                 .m = m,
                 .n = n,
                 .k = k,
                 .batch = batch,
                 .a = {in(left), x.row, x.column, x.batch},
                 .b = {in(right), y.row, y.column, y.batch},
                 .c = {out(z), n, 1, m * n}});
      check_close(z, {batch, m, n}, expected, tolerance(k));
    }
}

TEST_CASE("gemm clblast: addition to C, biases and relu, also where C is transposed") {
  NEEDS_CLBLAST();
  const ForcedVariant forced("matmul", "clblast");
  const std::int64_t m = 10, n = 13, k = 7;
  const std::vector<double> a = random_values(9, m * k), b = random_values(10, k * n), c = random_values(11, m * n),
                            bias = random_values(12, n);
  const reference::Product product = reference::matmul(a, {m, k}, b, {k, n});
  const Tensor left = tensor_of(a, {m, k}), right = tensor_of(b, {k, n}), shift = tensor_of(bias, {n});
  for (const bool transposed : {false, true})
    for (const std::int32_t flags : {0, 1, 2, 4, 8, 3, 5, 13, 10}) {
      CAPTURE(transposed);
      CAPTURE(flags);
      std::vector<double> expected = product.values;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(n), column = i % static_cast<std::size_t>(n);
        if (flags & ops::add_to_c) expected[i] += c[i];
        if (flags & ops::bias_per_row) expected[i] += bias[row];
        if (flags & ops::bias_per_column) expected[i] += bias[column];
        if (flags & ops::with_relu) expected[i] = std::max(expected[i], 0.0);
      }
      Tensor y = tensor_of(c, {m, n});
      if (transposed) y = y.transpose(0, 1).contiguous().transpose(0, 1);
      ops::gemm({.device = state_of(y),
                 .m = m,
                 .n = n,
                 .k = k,
                 .a = {in(left), k, 1},
                 .b = {in(right), n, 1},
                 .c = {out(y), y.strides()[0], y.strides()[1]},
                 .flags = flags,
                 .bias = in(shift)});
      check_close(y, {m, n}, expected, tolerance(k));
    }
}

TEST_CASE("gemm clblast: the depth of long sums is cut, and C is added once") {
  NEEDS_CLBLAST();
  const ForcedVariant forced("matmul", "clblast");
  const std::int64_t m = 3, n = 5, k = 20'001;
  const std::vector<double> a = random_values(1, m * k), b = random_values(2, k * n), c = random_values(3, m * n);
  std::vector<double> expected = reference::matmul(a, {m, k}, b, {k, n}).values;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += c[i];
  const Tensor left = tensor_of(a, {m, k}), right = tensor_of(b, {k, n}), y = tensor_of(c, {m, n});
  const Profile profile;
  ops::gemm({.device = state_of(y),
             .m = m,
             .n = n,
             .k = k,
             .a = {in(left), k, 1},
             .b = {in(right), n, 1},
             .c = {out(y), n, 1},
             .flags = ops::add_to_c});
  check_close(y, {m, n}, expected, tolerance(k));
  const std::vector<ProfileRow> rows = profile.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernel == "clblast");
  CHECK(rows[0].launches == 3);
}

TEST_CASE("gemm clblast: old contents of the result do not matter, and NaN and infinity stay where they belong") {
  NEEDS_CLBLAST();
  const ForcedVariant forced("matmul", "clblast");
  const GemmValues values{33, 17, 40};
  const GemmTensors tensors(values, false, true);
  ops::gemm(tensors.product());
  std::vector<double> expected = reference::matmul(values.a, {33, 40}, values.b, {40, 17}).values;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values.bias[i % 17];
  check_close(tensors.y(), {33, 17}, expected, tolerance(41));
  Tensor a = ones({3, 5});
  a.select(0, 0).fill_(NAN);
  a.select(0, 1).fill_(INFINITY);
  const std::vector<float> y = ops::matmul(a, ones({5, 2})).to_vector<float>();
  CHECK((std::isnan(y[0]) && std::isnan(y[1])));
  CHECK((y[2] == INFINITY && y[3] == INFINITY && y[4] == 5 && y[5] == 5));
}

TEST_CASE("gemm clblast: convolutions by matrix products use it") {
  NEEDS_CLBLAST();
  const Shape x_shape{2, 3, 6, 7}, w_shape{4, 3, 3, 3};
  const std::vector<double> x = random_values(4, x_shape.numel()), w = random_values(5, w_shape.numel()),
                            bias = random_values(6, 4);
  const Conv2dOptions options{1, 1};
  const ForcedVariant im2col("conv2d", "im2col_gemm"), product("matmul", "clblast");
  const VariantLog log;
  const Tensor y = ops::conv2d(tensor_of(x, x_shape), tensor_of(w, w_shape), tensor_of(bias, {4}), options);
  check_close(y, {2, 4, 6, 7}, reference::conv2d(x, x_shape, w, w_shape, bias, options), tolerance(28));
  const auto chosen = log.choices();
  CHECK(std::any_of(chosen.begin(), chosen.end(), [](const auto& choice) { return choice.variant == "clblast"; }));
}

TEST_CASE("gemm clblast: a replay makes the calls again, with new values and the same bits") {
  NEEDS_CLBLAST();
  const NoGrad no_grad;
  const ForcedVariant forced("matmul", "clblast");
  Tensor x = zeros({6, 9}), y;
  const Tensor weight = tensor_of(random_values(7, 9 * 8), {9, 8}), second = tensor_of(random_values(8, 64), {8, 8});
  const auto work = [&] { y = ops::matmul(ops::matmul(ops::matmul(x, weight), second), second); };
  work();
  check_error([&] { capture(work, Device(), ReplayBy::command_buffer); }, {"CLBlast queues its own kernels"});
  for (const bool planned : {false, true}) {
    CAPTURE(planned);
    const CapturedGraph graph = planned ? capture_planned(work, Device()) : capture(work);
    const Tensor result = y;
    CHECK(graph.size() == 3);
    CHECK_FALSE(graph.in_command_buffer());
    for (std::uint64_t seed = 20; seed < 23; ++seed) {
      x.copy_from(tensor_of(random_values(seed, 6 * 9), {6, 9}));
      graph.replay();
      const std::vector<float> replayed = result.to_vector<float>();
      work();
      CHECK(y.to_vector<float>() == replayed);
    }
  }
}

TEST_CASE("gemm clblast: products of several threads") {
  NEEDS_CLBLAST();
  std::vector<std::vector<float>> results(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&results, i] {
      const ForcedVariant forced("matmul", "clblast");
      for (std::int64_t round = 0; round < 20; ++round)
        results[i] = product_of_ones(static_cast<std::int64_t>(i) + round).to_vector<float>();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i)
    CHECK(results[i] == std::vector<float>(6, static_cast<float>(i + 19)));
}

TEST_CASE("child: a product by CLBlast on an unknown driver" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
  const ForcedVariant forced("matmul", "clblast");
  check_close(product_of_ones(30), {3, 2}, std::vector<double>(6, 30), {0});
  const auto outcomes = verifications();
  CHECK(std::any_of(outcomes.begin(), outcomes.end(),
                    [](const Verification& v) { return v.variant == "clblast" && v.agrees; }));
}

TEST_CASE("gemm clblast: verified at its first use on a driver that nobody has tried") {
  NEEDS_CLBLAST();
  const TemporaryFolder folder;
  const ProcessResult result = run_child("child: a product by CLBlast on an unknown driver",
                                         {{"CRISOL_VERIFY", "first"}, {"CRISOL_CACHE_DIR", folder.path()}});
  CHECK_PASSED(result);
}

TEST_CASE("child: products without CLBlast" * doctest::skip()) {
  check_close(product_of_ones(30), {3, 2}, std::vector<double>(6, 30), {0});
  const ForcedVariant forced("matmul", "clblast");
  check_error([] { product_of_ones(31); }, {"[matmul]", "clblast", "forced", "libclblast.so.1", "not installed"});
}

TEST_CASE("gemm clblast: a machine without the library computes without it, and an error names it where it is forced") {
#if !defined(__linux__)
  CRISOL_SKIP("needs a loader that LD_LIBRARY_PATH misleads");
#endif
  NEEDS_CLBLAST();
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/libclblast.so.1") << "not a library\n";
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  const ProcessResult result = run_child(
      "child: products without CLBlast",
      {{"CRISOL_VARIANT", ""}, {"LD_LIBRARY_PATH", folder.path() + (path == nullptr ? "" : std::string(":") + path)}});
  CHECK_PASSED(result);
  CHECK(result.errors.empty());
}
