// Verification of variants on drivers that nobody has tried: CRISOL_VERIFY, the variants that are passed over, the
// messages, and the stored outcomes. The tests run with CRISOL_VERIFY=off, so each case starts its own process.
#include "dispatch/verification.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/checked_lines.h"
#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "crisol/verification.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

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
  const ProblemLog log;
  sums();
  return log.problems().at(0).usual();
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

/// A folder for stored outcomes, and a folder with kernels. One of the kernels is wrong.
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

void check_sums() { check_close(sums(), {3, 7}, {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7}, {0}); }

}  // namespace

TEST_CASE("child: sums" * doctest::skip()) { check_sums(); }

TEST_CASE("child: sums on an unknown driver" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
  const GeneratorState before = default_generator().state();
  for (int round = 0; round < 3; ++round) {
    ProblemLog problems;
    VariantLog choices;
    check_sums();
    CHECK(problems.problems().size() == 1);
    CHECK(choices.choices().size() == 1);
  }
  CHECK(default_generator().state() == before);
}

TEST_CASE("child: sums of several threads on an unknown driver" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::vector<float>& result : results) threads.emplace_back([&result] { result = sums().to_vector<float>(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) CHECK(result == sums().to_vector<float>());
  check_sums();
}

TEST_CASE("child: sums that are captured on an unknown driver" * doctest::skip()) {
  const auto commands = [](const Tensor& x, Tensor& y) {
    ops::cumsum(x, 1);  // Compiles the kernels.
    CapturedGraph graph = capture([&] { y = ops::cumsum(x, 1); });
    return graph;
  };
  Tensor x = ones({3, 7});
  Tensor usual, tried;
  const std::size_t size = [&] {
    const ForcedVariant forced("cumsum", "items");
    return commands(x, usual).size();
  }();
  dispatch::assume_unknown_drivers(true);
  const Profile profile;
  const CapturedGraph graph = capture([&] { tried = ops::cumsum(x, 1); });
  CHECK(graph.size() == size);
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  CHECK(launches == static_cast<std::int64_t>(size));
  x.fill_(2);
  graph.replay();
  check_close(tried, {3, 7}, {2, 4, 6, 8, 10, 12, 14, 2, 4, 6, 8, 10, 12, 14, 2, 4, 6, 8, 10, 12, 14}, {0});
}

TEST_CASE("child: sums without memory for a trial" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
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
  const CheckedLines lines = without_checksum(format, text);
  REQUIRE(lines.fault == nullptr);
  const std::string version = " | " + Device().info().driver_version + " | ";
  std::string other(lines.lines);
  for (std::size_t at = 0; (at = other.find(version, at)) != std::string::npos;)
    other.replace(at, version.size(), " | 0 | ");
  write_file(place.file, with_checksum(format, other));
  const ProcessResult with_other = place.run("child: sums on an unknown driver");
  CHECK_PASSED(with_other);
  CHECK(count_of(with_other.output, place.line) == 1);
  CHECK(contains(read_file(place.file), " | 0 | "));  // Other drivers' outcomes stay.

  for (const std::string& damaged :
       {std::string("rubbish\n"), text.substr(0, text.size() - 3), with_checksum(format, "a\tb\tc\tperhaps\td\n")}) {
    write_file(place.file, damaged);
    const ProcessResult result = place.run("child: sums on an unknown driver");
    CHECK_PASSED(result);
    CHECK(contains(result.output, "crisol: verification: " + place.file));
    CHECK(contains(result.output, "; variants are verified again\n"));
    CHECK(count_of(result.output, place.line) == 1);
    CHECK(without_checksum(format, read_file(place.file)).fault == nullptr);
  }
}

TEST_CASE("child: a network that is compiled on an unknown driver" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
  nn::Sequential net(nn::Conv2d(3, 4, 3), nn::BatchNorm2d(4), nn::ReLU(), nn::Flatten(), nn::Linear(4 * 16, 5));
  net.eval();
  const Tensor x = randn({2, 3, 6, 6});
  const NoGrad no_grad;
  const Tensor y = compile(net, x)(x);  // The first use of all variants.
  CHECK(y.allclose(net(x), 1e-4, 1e-4));
}

TEST_CASE("verification: trials are no part of a network that is traced") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const TemporaryFolder folder;
  const ProcessResult result =
      run_child("child: a network that is compiled on an unknown driver",
                {{"CRISOL_CACHE_DIR", folder.path()}, {"CRISOL_VERIFY", "first"}, {"CRISOL_VERBOSE", "dispatch"}});
  CHECK_PASSED(result);
  CHECK(count_of(result.output, " tried in ") > 0);
}

TEST_CASE("verification: without a folder, from several threads, in a capture, without memory") {
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
  CHECK_PASSED(place.run("child: sums that are captured on an unknown driver"));
  std::filesystem::remove(place.file);
  CHECK_PASSED(place.run("child: sums without memory for a trial", {{"CRISOL_KERNEL_PATH", ""}}));
}

TEST_CASE("child: softmax on an unknown driver" * doctest::skip()) {
  dispatch::assume_unknown_drivers(true);
  VariantLog log;
  const Tensor y = ops::softmax(zeros({3, 64}), 1);
  check_close(y, {3, 64}, std::vector<double>(192, 1.0 / 64), {16});
  for (const VariantChoice& choice : log.choices()) CHECK(choice.variant != "vector");
}

TEST_CASE("verification: a variant that a driver does not compile is passed over") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  {
    const ProblemLog log;
    ops::softmax(zeros({3, 64}), 1);
    if (log.problems().at(0).usual() != "vector") CRISOL_SKIP("the first variant here is the last one");
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
