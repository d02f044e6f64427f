// Verification of variants on unknown drivers, which nobody has tried: CRISOL_VERIFY, which variants are passed over,
// which messages appear, and what is stored. The tests run with CRISOL_VERIFY=off, so each case starts its own process.
#include "dispatch/verification.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/checked_lines.h"
#include "crisol/crisol.h"
#include "crisol/verification.h"
#include "doctest/doctest.h"
#include "replay/replay.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/forced.h"
#include "support/program.h"
#include "support/skip.h"
#include "support/subprocess.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

const std::string root = CRISOL_SOURCE_DIR;

/// How often `part` occurs in `text`.
int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

/// Running sums along the last axis. The variants of this op have the names of their kernels.
Tensor sums() { return ops::cumsum(ones({3, 7}), 1); }

std::string usual_variant() {
  const ProblemRecord record;
  sums();
  return record.problems().at(0).usual();
}

/// Copies the kernels, but changes cumsum's usual kernel so that it writes wrong numbers.
std::string broken_kernels(const TemporaryFolder& folder) {
  const std::string path = folder.path() + "/kernels";
  std::filesystem::copy(root + "/cl_kernels", path, std::filesystem::copy_options::recursive);
  const std::string file = path + "/reduce/cumsum.cl", old = read_file(file);
  const std::string zero = "(one)(0)";  // The start value of the sum.
  const std::size_t kernel = old.find("void " + usual_variant() + "(SCAN_PARAMETERS) {"), at = old.find(zero, kernel);
  REQUIRE(kernel != std::string::npos);
  REQUIRE(at != std::string::npos);
  write_file(file, old.substr(0, at) + "(one)(77)" + old.substr(at + zero.size()));
  return path;
}

/// A folder for stored outcomes, and a folder with kernels, of which one is wrong.
struct Place {
  TemporaryFolder folder;
  std::string cache = folder.path() + "/cache", file = cache + "/verified.txt";
  std::string kernels = broken_kernels(folder), usual = usual_variant();
  std::string line = "crisol: verification: cumsum by " + usual + " is wrong on ";

  ProcessResult run(const std::string& child, const Environment& more = {}) const {
    Environment environment{{"CRISOL_CACHE_DIR", cache},
                            {"CRISOL_KERNEL_PATH", kernels},
                            {"CRISOL_VERIFY", "first"},
                            {"CRISOL_VERBOSE", "dispatch"}};
    environment.insert(environment.end(), more.begin(), more.end());
    return run_child(child, environment);
  }
  std::string refused() const { return "cumsum: " + usual + " refused: wrong where it was verified on this driver\n"; }
};

#define CHECK_PASSED(result) \
  CHECK_MESSAGE(contains((result).output, "crisol_tests: 1 passed, 0 failed, 0 skipped"), (result).output)

void check_sums() { check_close(sums(), {3, 7}, {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7}, {0}); }

}  // namespace

TEST_CASE("child: sums" * doctest::skip()) { check_sums(); }

TEST_CASE("child: sums on an unknown driver" * doctest::skip()) {
  ops::assume_unknown_drivers(true);
  const GeneratorState before = default_generator().state();
  for (int round = 0; round < 3; ++round) {
    ProblemRecord problems;
    VariantRecord choices;
    check_sums();
    CHECK(problems.problems().size() == 1);
    CHECK(choices.choices().size() == 1);
  }
  CHECK(default_generator().state() == before);
}

TEST_CASE("child: sums of several threads on an unknown driver" * doctest::skip()) {
  ops::assume_unknown_drivers(true);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(8);
  for (std::vector<float>& result : results) threads.emplace_back([&result] { result = sums().to_vector<float>(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) CHECK(result == sums().to_vector<float>());
  check_sums();
}

TEST_CASE("child: sums that are recorded on an unknown driver" * doctest::skip()) {
  const auto commands = [](const Tensor& x, Tensor& y) {
    ops::cumsum(x, 1);  // Compiles the kernels.
    Recording recording = record([&] { y = ops::cumsum(x, 1); });
    return recording;
  };
  Tensor x = ones({3, 7});
  Tensor usual, tried;
  const std::size_t size = [&] {
    const ForcedVariant forced("cumsum", "items");
    return commands(x, usual).size();
  }();
  ops::assume_unknown_drivers(true);
  const Profile profile;
  const Recording recording = record([&] { tried = ops::cumsum(x, 1); });
  CHECK(recording.size() == size);
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  CHECK(launches == static_cast<std::int64_t>(size));
  x.fill_(2);
  recording.replay();
  check_close(tried, {3, 7}, {2, 4, 6, 8, 10, 12, 14, 2, 4, 6, 8, 10, 12, 14, 2, 4, 6, 8, 10, 12, 14}, {0});
}

TEST_CASE("child: sums without memory for a trial" * doctest::skip()) {
  ops::assume_unknown_drivers(true);
  const Device device;
  const Tensor x = ones({4, 512});
  device.release_cached_memory();
  device.set_memory_limit(device.memory_stats().in_use + 4 * 4 * 512);
  const Tensor y = ops::cumsum(x, 1);
  device.set_memory_limit(0);
  const auto outcomes = verifications();
  const auto of_sums = [](const Verification& v) { return v.op == "cumsum"; };
  CHECK(std::none_of(outcomes.begin(), outcomes.end(), of_sums));
  ops::cumsum(x, 1);  // With enough memory the trial runs.
  const auto later = verifications();
  CHECK(std::any_of(later.begin(), later.end(), of_sums));
}

TEST_CASE("verification: a wrong variant is passed over with one line, and so by later processes without one") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  const ProcessResult first = place.run("child: sums on an unknown driver");
  CHECK_PASSED(first);
  CHECK(count_of(first.output, place.line) == 1);
  CHECK(contains(first.output, " results, element "));
  CHECK(contains(first.output, "`crisol doctor`"));
  CHECK(contains(first.output, place.refused()));
  CHECK(contains(read_file(place.file), "\tcumsum\t" + place.usual + "\tdisagrees\t"));

  const ProcessResult later = place.run("child: sums on an unknown driver");
  CHECK_PASSED(later);
  CHECK(count_of(later.output, "is wrong on") == 0);
  CHECK(count_of(later.output, " tried in ") == 0);
  CHECK(contains(later.output, place.refused()));

  const ProcessResult again = place.run("child: sums on an unknown driver", {{"CRISOL_VERIFY", "always"}});
  CHECK_PASSED(again);
  CHECK(count_of(again.output, place.line) == 1);

  // A forced variant is used although it is wrong. Each process prints a line about it.
  const ProcessResult forced =
      place.run("child: sums on an unknown driver", {{"CRISOL_VARIANT", "cumsum:" + place.usual}});
  CHECK(contains(forced.output, place.usual + " chosen\n"));
  CHECK(count_of(forced.output, "and used all the same, as it is forced or the only one\n") == 1);
}

TEST_CASE("verification: off, and first on a driver of the list, try nothing; always tries there too") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  const ProcessResult off = place.run("child: sums on an unknown driver", {{"CRISOL_VERIFY", "off"}});
  CHECK(count_of(off.output, "crisol: verification") == 0);
  CHECK(count_of(off.output, " tried in ") == 0);
  CHECK(contains(off.output, "cumsum: " + place.usual + " chosen\n"));
  CHECK_FALSE(std::filesystem::exists(place.file));
  if (is_verified_driver(Device().info())) {
    const ProcessResult listed = place.run("child: sums");
    CHECK(count_of(listed.output, "crisol: verification") == 0);
    CHECK(count_of(listed.output, " tried in ") == 0);
    CHECK_FALSE(std::filesystem::exists(place.file));
  }
  const ProcessResult always = place.run("child: sums", {{"CRISOL_VERIFY", "always"}});
  CHECK_PASSED(always);
  CHECK(count_of(always.output, place.line) == 1);
  const ProcessResult rubbish = place.run("child: sums", {{"CRISOL_VERIFY", "sometimes"}});
  CHECK(contains(rubbish.output, "[CRISOL_VERIFY] 'sometimes' is none of off, first and always"));
}

TEST_CASE("verification: outcomes of another driver and those of a damaged file are not used") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  place.run("child: sums on an unknown driver");
  const std::string text = read_file(place.file);
  const std::string format = "crisol verification 1";
  const runtime::CheckedLines lines = runtime::without_checksum(format, text);
  REQUIRE(lines.fault == nullptr);
  const std::string version = " | " + Device().info().driver_version + " | ";
  std::string other(lines.lines);
  for (std::size_t at = 0; (at = other.find(version, at)) != std::string::npos;)
    other.replace(at, version.size(), " | 0 | ");
  write_file(place.file, runtime::with_checksum(format, other));
  const ProcessResult with_other = place.run("child: sums on an unknown driver");
  CHECK_PASSED(with_other);
  CHECK(count_of(with_other.output, place.line) == 1);
  CHECK(contains(read_file(place.file), " | 0 | "));  // Other drivers' outcomes stay.

  for (const std::string& damaged : {std::string("rubbish\n"), text.substr(0, text.size() - 3),
                                     runtime::with_checksum(format, "a\tb\tc\tperhaps\td\n")}) {
    write_file(place.file, damaged);
    const ProcessResult result = place.run("child: sums on an unknown driver");
    CHECK_PASSED(result);
    CHECK(contains(result.output, "crisol: verification: " + place.file));
    CHECK(contains(result.output, "; variants are verified again\n"));
    CHECK(count_of(result.output, place.line) == 1);
    CHECK(runtime::without_checksum(format, read_file(place.file)).fault == nullptr);
  }
}

TEST_CASE("verification: without a folder, from several threads, in a recording, without memory") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const Place place;
  write_file(place.folder.path() + "/file", "");
  const ProcessResult without =
      place.run("child: sums on an unknown driver", {{"CRISOL_CACHE_DIR", place.folder.path() + "/file/x"}});
  CHECK_PASSED(without);
  CHECK(count_of(without.output, place.line) == 1);
  const ProcessResult threads = place.run("child: sums of several threads on an unknown driver");
  CHECK_PASSED(threads);
  CHECK(count_of(threads.output, place.line) == 1);
  std::filesystem::remove(place.file);
  CHECK_PASSED(place.run("child: sums that are recorded on an unknown driver"));
  std::filesystem::remove(place.file);
  CHECK_PASSED(place.run("child: sums without memory for a trial", {{"CRISOL_KERNEL_PATH", ""}}));
}

TEST_CASE("child: softmax on an unknown driver" * doctest::skip()) {
  ops::assume_unknown_drivers(true);
  VariantRecord record;
  const Tensor y = ops::softmax(zeros({3, 64}), 1);
  check_close(y, {3, 64}, std::vector<double>(192, 1.0 / 64), {16});
  for (const VariantChoice& choice : record.choices()) CHECK(choice.variant != "vector");
}

TEST_CASE("verification: a variant that a driver does not compile is passed over") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  {
    const ProblemRecord record;
    ops::softmax(zeros({3, 64}), 1);
    if (record.problems().at(0).usual() != "vector") CRISOL_SKIP("the first variant here is the last one");
  }
  const Place place;
  const std::string file = place.kernels + "/rowwise/softmax.cl";
  write_file(file, "#if VW > 1\n#error \"no vectors\"\n#endif\n" + read_file(file));
  for (const int lines : {1, 0}) {
    const ProcessResult result = place.run("child: softmax on an unknown driver");
    CHECK_PASSED(result);
    CHECK(count_of(result.output, "crisol: verification: softmax by vector is wrong on ") == lines);
  }
}

namespace {

/// Problems for the variant tables of all ops, with sizes from a network.
constexpr const char* problems[] = {
    "matmul m=64 n=10 k=128 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0",
    "matmul m=64 n=128 k=3136 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
    "matmul m=3 n=1000 k=512 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0",
    "matmul m=256 n=256 k=256 batch=4 transa=1 transb=0 transc=0 weight=0 precision=0",
    "conv2d n=64 c=32 h=14 w=14 k=64 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=1 "
    "precision=0",
    "conv2d n=8 c=3 h=224 w=224 k=64 r=7 s=7 stride_h=2 stride_w=2 pad_h=3 pad_w=3 dil_h=1 dil_w=1 groups=1 "
    "precision=0",
    "conv2d n=8 c=64 h=28 w=28 k=64 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=64 "
    "precision=0",
    "conv2d n=8 c=64 h=28 w=28 k=32 r=1 s=1 stride_h=1 stride_w=1 pad_h=0 pad_w=0 dil_h=1 dil_w=1 groups=1 precision=0",
    "rnn_forward cell=0 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_forward cell=2 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_forward cell=3 reverse=1 t=20 b=16 i=32 h=64 outputs=64 padded=1",
    "rnn_backward cell=1 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "rnn_backward cell=2 reverse=0 t=20 b=16 i=32 h=64 outputs=32 padded=0",
    "rnn_backward cell=3 reverse=0 t=20 b=16 i=32 h=64 outputs=64 padded=0",
    "cumsum outer=32 length=5000 inner=1 i64=0 reverse=0",
    "cumsum outer=32 length=5000 inner=64 i64=1 reverse=1",
    "topk rows=64 length=1000 k=5 largest=1 dtype=0",
    "topk rows=64 length=1000 k=50 largest=0 dtype=4",
    "sort rows=64 length=1000",
    "softmax rows=64 length=1000 step=1",
    "softmax rows=6272 length=32 step=196",
    "log_softmax rows=64 length=10 step=1",
    "softmax_backward rows=64 length=1000 step=1",
    "log_softmax_backward rows=64 length=1000 step=1",
    "layer_norm rows=64 length=512 step=1",
    "layer_norm_backward rows=64 length=512 step=1",
    "batch_norm2d images=64 channels=32 spatial=196",
    "batch_norm2d_backward images=64 channels=32 spatial=196",
    "cross_entropy rows=64 length=1000 step=1",
    "cross_entropy_backward rows=64 length=1000 step=1",
    "mse_loss rows=1 length=10000 step=1",
    "mse_loss_backward rows=1 length=10000 step=1",
    "max_pool2d planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1",
    "max_pool2d_backward planes=64 h=55 w=55 out_h=28 out_w=28 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 "
    "dil_w=1",
    "avg_pool2d planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1",
    "avg_pool2d_backward planes=64 h=28 w=28 out_h=14 out_w=14 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 "
    "dil_w=1",
    "adaptive_avg_pool2d planes=64 h=28 w=28 out_h=7 out_w=7",
    "adaptive_avg_pool2d_backward planes=64 h=28 w=28 out_h=1 out_w=1",
    "gather outer=32 size=1000 inner=1 picked=1 slices=0 dtype=0",
    "index_select outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "sample_logits outer=32 size=1000 inner=1 picked=1 slices=0 dtype=3",
    "scatter_add outer=32 size=1000 inner=4 picked=100 slices=0 dtype=0",
    "index_add outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "embedding_backward outer=1 size=1000 inner=64 picked=320 slices=1 dtype=0",
    "transpose_copy batch=4 rows=128 columns=256",
    "pointwise",
};

std::vector<std::string> all_problems() {
  std::vector<std::string> all(std::begin(problems), std::end(problems));
  // Adds the gradients of convolutions, and each kind of reduction along and across the last axis.
  for (const std::string& text : std::vector<std::string>(all))
    if (text.starts_with("conv2d"))
      for (const char* op : {"conv2d_backward_data", "conv2d_backward_weight"})
        all.push_back(op + text.substr(text.find(' ')));
  for (int kind = 0; kind < 8; ++kind)
    for (const char* rest : {"outputs=64 elements=4000 width=64 across=0 along=1 fused=1",
                             "outputs=256 elements=500 width=64 across=1 along=0 fused=0"})
      all.push_back("reduce kind=" + std::to_string(kind) + " dtype=0 " + rest);
  return all;
}

/// Runs a problem with each variant that accepts it.
void run_each_variant(const replay::Problem& problem) {
  const std::optional<replay::Replay> replay = replay::replay_of(problem);
  REQUIRE(replay.has_value());
  std::vector<std::string> variants;
  {
    const ProblemRecord record;
    replay->run();
    for (const TuningProblem& met : record.problems())
      if (met.op == problem.op)
        for (const TuningCandidate& candidate : met.candidates)
          if (candidate.refusal.empty() && candidate.variant.find('/') == std::string::npos)
            variants.push_back(candidate.variant);
  }
  if (problem.op == "pointwise") variants = {"chunks", "items"};
  int ran = 0;
  for (const std::string& variant : variants) {
    INFO(variant);
    const bool accepted = run_variant(problem.op, variant, [&] { replay->run(); });
    CHECK((accepted || problem.op == "pointwise"));
    ran += accepted ? 1 : 0;
  }
  CHECK(ran > 0);
}

}  // namespace

TEST_CASE("child: every variant of every table" * doctest::skip()) {
  for (const std::string& text : all_problems()) {
    INFO(text);
    const std::optional<replay::Problem> small = replay::with_sizes(replay::parse_problem(text), {});
    REQUIRE(small.has_value());
    run_each_variant(*small);
  }
  const auto outcomes = verifications();
  CHECK(outcomes.size() > 60);
  CHECK(std::any_of(outcomes.begin(), outcomes.end(),
                    [](const Verification& v) { return v.op == "max_pool2d_backward"; }));
  for (const Verification& v : outcomes) CHECK_MESSAGE(v.agrees, v.op << " by " << v.variant << ": " << v.detail);
  std::cout << outcomes.size() << " variants agree\n";
}

TEST_CASE("verification: every variant of every table agrees with its reference on a small problem") {
  const ProcessResult result = run_child("child: every variant of every table", {{"CRISOL_VERIFY", "always"}});
  CHECK_PASSED(result);
  CHECK(count_of(result.output, "is wrong on") == 0);
}

TEST_CASE("verification: problems become small and odd, and keep what selects their programs") {
  const auto small = [](const char* text, std::int64_t factor = 1) {
    const std::optional<replay::Problem> problem = replay::with_sizes(replay::parse_problem(text), {factor, 0});
    REQUIRE(problem.has_value());
    return *problem;
  };
  const replay::Problem conv = small(problems[5]);
  CHECK(conv["n"] == 3);
  CHECK(conv["c"] == 3);
  CHECK(conv["k"] == 11);
  CHECK(conv["h"] == 13);
  CHECK(conv["r"] == 7);
  CHECK(conv["stride_h"] == 2);
  const replay::Problem depthwise = small(problems[6]);
  CHECK(depthwise["groups"] == 3);
  CHECK(depthwise["c"] == 3);
  const replay::Problem product =
      small("matmul m=64 n=2 k=8 batch=1 transa=0 transb=0 transc=0 weight=0 precision=2", 2);
  CHECK(product["m"] == 63);
  CHECK(product["n"] == 2);
  CHECK(product["k"] == 7);
  CHECK(product["precision"] == 2);
  CHECK(small("embedding_backward outer=1 size=10 inner=4 picked=3 slices=1 dtype=0").op == "index_add");
  // A size of 1 becomes larger if it does not select a layout.
  const auto given = replay::with_sizes(replay::parse_problem("softmax rows=2 length=1 step=1"), {1, 1});
  REQUIRE(given.has_value());
  CHECK((*given)["length"] == 67);
  CHECK((*given)["rows"] == 5);
  CHECK((*given)["step"] == 1);
  CHECK_FALSE(replay::with_sizes(replay::parse_problem("no_op m=1"), {}).has_value());
}

TEST_CASE("verification: the list of drivers knows versions by their numbers") {
  DeviceInfo info;
  info.platform = "Portable Computing Language";
  for (const char* version : {"3.1", "3.1+debian", "3.1-rc1"}) {
    info.driver_version = version;
    CHECK(is_verified_driver(info));
  }
  for (const char* version : {"3.10", "3.1.1", "3", "13.1", ""}) {
    info.driver_version = version;
    CHECK_FALSE(is_verified_driver(info));
  }
  info.platform = "rusticl";
  info.driver_version = "3.1";
  CHECK_FALSE(is_verified_driver(info));
}
