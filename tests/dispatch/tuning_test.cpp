// Tests dispatch with forced settings, logged problems and stored choices. A process reads stored choices only once,
// so each case with stored choices starts its own process.
#include <algorithm>
#include <cstdlib>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "dispatch/gpu_traits.h"
#include "dispatch/problem_key.h"
#include "doctest/doctest.h"
#include "reference/matmul.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr std::int64_t m = 6, n = 7, k = 40;

/// Computes and checks a small product. Returns the variant that computed it.
std::string multiply() {
  const auto a = random_values(1, m * k), b = random_values(2, k * n);
  VariantLog log;
  const Tensor y = ops::matmul(tensor_of(a, {m, k}), tensor_of(b, {k, n}));
  check_close(y, {m, n}, reference::matmul(a, {m, k}, b, {k, n}).values, {2, k + 1});
  for (const VariantChoice& choice : log.choices())
    if (choice.op == "matmul") return choice.variant;
  return {};
}

TuningProblem problem_of_product() {
  const ProblemLog log;
  multiply();
  REQUIRE(log.problems().size() == 1);
  return log.problems()[0];
}

/// Writes a file with a stored choice for the product, and runs the child that multiplies with it.
ProcessResult multiply_tuned(const std::string& variant, const Environment& more = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/tuning.txt";
  const TuningProblem problem = problem_of_product();
  set_variable("CRISOL_TUNING", path);
  store_tuning({tuning_device(Device().info()), problem.text, problem.key, variant, 1, problem.usual(), 2});
  set_variable("CRISOL_TUNING", "0");
  Environment environment{{"CRISOL_TUNING", path}, {"CRISOL_VERBOSE", "dispatch"}};
  environment.insert(environment.end(), more.begin(), more.end());
  return run_child("child: multiplies", environment);
}

bool is_slow() { return slow_device(); }

}  // namespace

TEST_CASE("problem key: text and hash tell op, names and values apart") {
  const dispatch::ProblemKey key{{"rows", 3}, {"length", 5}};
  CHECK(key.text("softmax") == "softmax rows=3 length=5");
  CHECK(key.hash("softmax") == dispatch::ProblemKey{{"rows", 3}, {"length", 5}}.hash("softmax"));
  CHECK(key.hash("softmax") != key.hash("log_softmax"));
  CHECK(key.hash("softmax") != dispatch::ProblemKey{{"rows", 5}, {"length", 3}}.hash("softmax"));
  CHECK(key.hash("softmax") != dispatch::ProblemKey{{"rows", 3}, {"step", 5}}.hash("softmax"));
  CHECK(key.hash("softmax") != dispatch::ProblemKey{{"rows", 3}}.hash("softmax"));
}

TEST_CASE("problem log: problems with their candidates, counted, in all logs around") {
  const ProblemLog outer;
  {
    const ProblemLog inner;
    multiply();
    multiply();
    REQUIRE(inner.problems().size() == 1);
    const TuningProblem& problem = inner.problems()[0];
    CHECK(problem.op == "matmul");
    CHECK(problem.text == "matmul m=6 n=7 k=40 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0");
    CHECK(problem.times == 2);
    CHECK(problem.usual() == multiply());
    REQUIRE(!problem.candidates.empty());
    CHECK(std::any_of(problem.candidates.begin(), problem.candidates.end(),
                      [](const TuningCandidate& c) { return c.variant == "plain" && c.refusal.empty(); }));
    CHECK(problem.candidates.back().variant == "clblast");
  }
  CHECK(outer.problems().size() == 1);
  CHECK(outer.problems()[0].times == 3);
}

TEST_CASE("matmul: a setting is forced by its name, and every one gives the product") {
  // Every device has enough registers for this tile.
  for (const char* variant : {"block/64x64", "block/64x64/4"}) {
    const ForcedVariant forced("matmul", variant);
    if (std::string(variant) == "block/64x64") {
      CHECK(multiply() == variant);
    } else {
      CHECK(refusal(ErrorCode::invalid_argument, multiply) ==
            "[matmul] variant block/64x64/4 is forced, but the depth is too small for so many parts");
    }
  }
  const ForcedVariant forced("matmul", "block/1x1");
  CHECK(std::string(refusal(ErrorCode::invalid_argument, multiply).c_str())
            .find("variant block/1x1 is forced, but there is no such variant; there are: ") != std::string::npos);
}

TEST_CASE("child: multiplies" * doctest::skip()) { CHECK_FALSE(multiply().empty()); }

TEST_CASE("tuning: a stored choice is used, below what is forced, and passed over where it refuses") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const std::string usual = problem_of_product().usual();
  const auto chosen = [](const std::string& text) { return "crisol: matmul: " + text + "\n"; };
  const ProcessResult tuned = multiply_tuned("plain");
  INFO(tuned.output);
  CHECK(tuned.status == 0);
  CHECK(contains(tuned.output, chosen("plain chosen, as tuned")));

  const ProcessResult forced = multiply_tuned("plain", {{"CRISOL_VARIANT", "matmul:" + usual}});
  CHECK(forced.status == 0);
  CHECK(contains(forced.output, chosen(usual + " chosen")));
  const ProcessResult forbidden = multiply_tuned("plain", {{"CRISOL_VARIANT", "matmul:-plain"}});
  CHECK(forbidden.status == 0);
  CHECK(contains(forbidden.output, chosen("plain refused: forbidden by CRISOL_VARIANT")));
  CHECK(contains(forbidden.output, chosen(usual + " chosen")));
  // No rule chooses CLBlast, but a stored measurement does, on a device for which nobody measured the own kernels.
  const ProcessResult library = multiply_tuned("clblast");
  INFO(library.output);
  CHECK(library.status == 0);
  const bool taken = clblast().must_run && !dispatch::gpu_traits(Device().info()).measured;
  CHECK(contains(library.output, taken ? chosen("clblast chosen, as tuned") : "crisol: matmul: clblast refused: "));
  for (const char* variant : {"block/32x32/4", "no such thing", "plain/64x64", ""}) {
    const ProcessResult refused = multiply_tuned(variant);
    INFO(refused.output);
    CHECK(refused.status == 0);
    CHECK(contains(refused.output, "crisol: matmul: " + std::string(variant) + " refused: "));
    CHECK(contains(refused.output, chosen(usual + " chosen")));
  }
}

TEST_CASE("tuning: a damaged file costs a line on stderr, and another device's entries nothing") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/tuning.txt";
  write_file(path, "crisol tuning 1 0123456789abcdef\nrubbish\n");
  const ProcessResult damaged = run_child("child: multiplies", {{"CRISOL_TUNING", path}});
  CHECK(damaged.status == 0);
  const std::string warning =
      "crisol: tuning: " + path + " has a wrong checksum; nothing of it is used: run crisol tune again\n";
  CHECK(contains(damaged.output, warning));
  CHECK(damaged.output.find(warning) == damaged.output.rfind(warning));
}

TEST_CASE("child: multiplies and normalises" * doctest::skip()) {
  multiply();
  multiply();
  ops::softmax(ones({3, 5}), 1);
}

TEST_CASE("CRISOL_PROBLEM_LOG: problems with their counts, added up over processes") {
  if (is_slow()) CRISOL_SKIP("starts processes outside the simulator");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/new/shapes";
  for (int run = 1; run <= 2; ++run) {
    const ProcessResult result = run_child("child: multiplies and normalises", {{"CRISOL_PROBLEM_LOG", path}});
    CHECK(result.status == 0);
    CHECK(
        contains(read_file(path), "matmul m=6 n=7 k=40 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0 count=" +
                                      std::to_string(2 * run) + "\n"));
    CHECK(contains(read_file(path), "softmax rows=3 length=5 step=1 count=" + std::to_string(run) + "\n"));
  }
  const std::string old = folder.path() + "/old";
  CHECK(run_child("child: multiplies", {{"CRISOL_RECORD_SHAPES", old}}).status == 0);  // The variable's name in 0.1.
  CHECK(contains(read_file(old), "matmul m=6 n=7 k=40"));
  write_file(folder.path() + "/file", "");
  const ProcessResult failed = run_child("child: multiplies", {{"CRISOL_PROBLEM_LOG", folder.path() + "/file/shapes"}});
  CHECK(failed.status != 0);
  CHECK(contains(failed.output, "[CRISOL_PROBLEM_LOG] " + folder.path() + "/file/shapes cannot be "));
}
