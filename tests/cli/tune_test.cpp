// `crisol tune` and CRISOL_PROBLEM_LOG, as users and scripts run them. The tests do not check which variant is
// faster.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "crisol/device.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

/// A separate folder for compiled programs and stored choices.
struct Place {
  TemporaryFolder folder;
  std::string tuned = folder.path() + "/tuning.txt", shapes = folder.path() + "/shapes";

  ProcessResult run(const std::string& line, const Environment& more = {}) const {
    Environment environment{{"CRISOL_CACHE_DIR", folder.path()}, {"CRISOL_TUNING", tuned}};
    environment.insert(environment.end(), more.begin(), more.end());
    return run_built("crisol", words_of(line), environment);
  }
  nlohmann::json json(const std::string& line) const {
    const ProcessResult result = run("tune " + line + " --json");
    INFO(line << ": " << result.output);
    REQUIRE(result.status == 0);
    return nlohmann::json::parse(result.out);
  }
};

const std::string product = "matmul m=5 n=6 k=300 batch=1 transa=0 transb=0 transc=0 weight=0 precision=0";

void check_usage_error(const Place& place, const std::string& line, const std::string& part,
                       const Environment& more = {}) {
  const ProcessResult result = place.run("tune " + line, more);
  INFO(line << ": " << result.output);
  CHECK(result.status == 2);
  CHECK(contains(result.output, "crisol tune: "));
  CHECK(contains(result.output, part));
}

}  // namespace

TEST_CASE("crisol tune: every variant of a case's problem is timed, and the faster ones are checked") {
  NEEDS_CRISOL();
  const Place place;
  const auto json = place.json("gemm m=5 n=6 k=300 --repeat 3");
  CHECK(json.at("file") == place.tuned);
  REQUIRE(json.at("problems").size() == 1);
  const auto& problem = json.at("problems")[0];
  CHECK(problem.at("problem") == product);
  CHECK(problem.at("times") == 1);
  CHECK(problem.at("before").is_null());
  REQUIRE(problem.at("variants").size() >= 2);
  CHECK(problem.at("variants")[0].at("variant") == problem.at("usual"));
  CHECK(problem.at("variants")[0].at("rounds_ms").size() == 3);
  for (const auto& variant : problem.at("variants")) CHECK(variant.at("median_ms").get<double>() > 0);
  const bool better = problem.at("best") != problem.at("usual");
  CHECK(problem.contains("checked_against") == better);
  for (const auto& variant : problem.at("variants"))
    if (variant.at("variant") == problem.at("best") && better) CHECK(variant.at("share_of_bound").get<double>() <= 1);

  // The stored choice is used, and the next run finds it.
  const auto cached = nlohmann::json::parse(place.run("cache list --json").out);
  CHECK(cached.at("tuning_file") == place.tuned);
  CHECK(cached.at("tuned").size() == (better ? 1u : 0u));
  const auto bench = nlohmann::json::parse(place.run("bench gemm m=5 n=6 k=300 --json --repeat 1 --no-peak").out);
  CHECK(bench.at("variant") == "matmul:" + problem.at("best").get<std::string>());
  const auto again = place.json("gemm m=5 n=6 k=300 --repeat 1 --dry-run").at("problems")[0];
  CHECK(again.at("before").is_null() != better);
  CHECK(again.at("usual") == problem.at("usual"));
}

TEST_CASE("crisol tune: shapes that a program logged, each once, with how often they came") {
  NEEDS_CRISOL();
  const Place place;
  for (const char* line : {"bench conv2d n=1 c=2 h=5 w=6 k=3 dir=train --repeat 1 --no-peak",
                           "bench softmax rows=4 cols=9 --repeat 1 --no-peak"})
    CHECK(place.run(line, {{"CRISOL_PROBLEM_LOG", place.shapes}}).status == 0);
  const std::string logged = read_file(place.shapes);
  for (const char* op : {"conv2d n=1 c=2 h=5 w=6 k=3 r=3 s=3", "conv2d_backward_data n=1", "conv2d_backward_weight n=1",
                         "softmax rows=4 length=9 step=1 count="})
    CHECK(contains(logged, op));

  write_file(place.shapes, "# a comment\n\n" + product + " count=7\n" + product + " count=2\n" +
                               "gather outer=1 size=2 inner=3 picked=4 slices=0 dtype=3 count=1\n" +
                               "matmul m=4 n=4 k=4 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0 note=5\n");
  const auto json = place.json("--shapes " + place.shapes + " --dry-run --repeat 1");
  REQUIRE(json.at("problems").size() == 1);
  CHECK(json.at("problems")[0].at("times") == 9);
  REQUIRE(json.at("skipped").size() == 2);
  CHECK(json.at("skipped")[0].at("reason") == "it cannot be made again alone");
  CHECK(contains(json.at("skipped")[1].at("reason"), "cannot be made again: it becomes 'matmul m=4"));
  CHECK(json.at("file") == "");
  const ProcessResult text = place.run("tune --shapes " + place.shapes + " --dry-run --repeat 1");
  CHECK(text.status == 0);
  CHECK(contains(text.output, product));
  CHECK(contains(text.output, "nothing is stored: --dry-run"));
  CHECK(read_file(place.tuned).empty());
}

TEST_CASE("crisol tune: every kind of problem can be made again and is computed alike by all its variants" *
          doctest::test_suite("long")) {
  NEEDS_CRISOL();
  if (slow_launches()) CRISOL_SKIP("compiles many kernels");
  const Place place;
  write_file(place.shapes, R"(matmul m=3 n=40 k=20 batch=2 transa=1 transb=1 transc=0 weight=0 precision=0
matmul m=9 n=10 k=30 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0
matmul m=9 n=10 k=30 batch=1 transa=1 transb=0 transc=0 weight=1 precision=3
conv2d n=2 c=4 h=7 w=6 k=6 r=3 s=2 stride_h=2 stride_w=1 pad_h=1 pad_w=0 dil_h=1 dil_w=2 groups=2 precision=0
conv2d_backward_data n=2 c=4 h=7 w=6 k=6 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=1 precision=1
conv2d_backward_weight n=2 c=4 h=7 w=6 k=6 r=3 s=3 stride_h=1 stride_w=1 pad_h=1 pad_w=1 dil_h=1 dil_w=1 groups=1 precision=3
softmax rows=6 length=40 step=3
softmax_backward rows=6 length=40 step=1
log_softmax rows=6 length=40 step=1
log_softmax_backward rows=6 length=40 step=1
layer_norm rows=5 length=33 step=1
layer_norm_backward rows=5 length=33 step=1
batch_norm2d images=3 channels=4 spatial=35
batch_norm2d_backward images=3 channels=4 spatial=35
cross_entropy rows=5 length=30 step=1
cross_entropy_backward rows=5 length=30 step=1
mse_loss rows=1 length=50 step=1
mse_loss_backward rows=1 length=50 step=1
max_pool2d planes=6 h=9 w=7 out_h=5 out_w=4 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1
max_pool2d_backward planes=6 h=8 w=6 out_h=4 out_w=3 r=2 s=2 stride_h=2 stride_w=2 pad_h=0 pad_w=0 dil_h=1 dil_w=1
avg_pool2d planes=6 h=8 w=6 out_h=4 out_w=3 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 dil_w=1
avg_pool2d_backward planes=6 h=8 w=6 out_h=4 out_w=3 r=3 s=3 stride_h=2 stride_w=2 pad_h=1 pad_w=1 dil_h=1 dil_w=1
adaptive_avg_pool2d planes=6 h=8 w=6 out_h=3 out_w=3
adaptive_avg_pool2d_backward planes=6 h=8 w=6 out_h=3 out_w=3
reduce kind=0 dtype=0 outputs=10 elements=64 width=10 across=1 along=0 fused=0
reduce kind=6 dtype=0 outputs=10 elements=64 width=10 across=0 along=1 fused=0
cumsum outer=2 length=40 inner=3 dtype=0 reverse=1
topk rows=3 length=50 k=4 largest=1 dtype=0
sort rows=3 length=50
gather outer=2 size=7 inner=3 picked=5 slices=0 dtype=0
index_select outer=2 size=7 inner=9 picked=5 slices=1 dtype=0
scatter_add outer=2 size=7 inner=3 picked=5 slices=0 dtype=0
index_add outer=1 size=7 inner=9 picked=5 slices=1 dtype=0
transpose_copy batch=2 rows=9 columns=21
enlarge rows=6 width=21 down=2 across=2 dtype=0
resample outer=2 out_size=9 size=5 inner=7 terms=2
resample outer=6 out_size=9 size=5 inner=1 terms=2
rnn_forward cell=2 reverse=0 t=3 b=2 i=5 h=16 outputs=16 padded=0
rnn_backward cell=3 reverse=1 t=3 b=2 i=5 h=16 outputs=16 padded=0
)");
  const auto json = place.json("--shapes " + place.shapes + " --dry-run --repeat 1 --check");
  INFO(json.dump(1));
  CHECK(json.at("skipped").empty());
  CHECK(json.at("problems").size() + json.at("one_variant").get<std::size_t>() == 39);
  for (const auto& problem : json.at("problems"))
    for (const auto& variant : problem.at("variants")) CHECK(variant.at("share_of_bound").get<double>() <= 1);
}

TEST_CASE("crisol tune: a variant with wrong numbers is named and never stored") {
  NEEDS_CRISOL();
  if (slow_launches()) CRISOL_SKIP("compiles many kernels");
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("breaks a kernel that CPUs choose");
  const Place place;
  const std::string kernels = place.folder.path() + "/kernels";
  std::filesystem::copy(CRISOL_SOURCE_DIR "/cl_kernels", kernels, std::filesystem::copy_options::recursive);
  std::string source = read_file(kernels + "/product/cpu/gemm_cpu_dot.cl");
  const std::string right = "store_sums(sums[i * DOT_N + j],";
  REQUIRE(contains(source, right));
  source.replace(source.find(right), right.size(), "store_sums(1 + sums[i * DOT_N + j],");
  write_file(kernels + "/product/cpu/gemm_cpu_dot.cl", source);
  write_file(place.shapes, "matmul m=64 n=40 k=128 batch=1 transa=0 transb=1 transc=0 weight=1 precision=0\n");
  const ProcessResult result =
      place.run("tune --check --repeat 1 --json --shapes " + place.shapes, {{"CRISOL_KERNEL_PATH", kernels}});
  INFO(result.output);
  CHECK(result.status == 1);
  const auto problem = nlohmann::json::parse(result.out).at("problems").at(0);
  CHECK(problem.at("best") != "cpu_dot");
  CHECK(problem.at("checked_against") == "the reference");
  for (const auto& variant : problem.at("variants")) {
    const bool broken = variant.at("variant") == "cpu_dot";
    CHECK(variant.contains("wrong") == broken);
    if (broken) CHECK(contains(variant.at("wrong"), "2560 of 2560 results, element "));
  }
  CHECK_FALSE(contains(read_file(place.tuned), "\tcpu_rows\t"));
}

TEST_CASE("crisol tune: wrong words are named, with exit status 2") {
  NEEDS_CRISOL();
  const Place place;
  check_usage_error(place, "", "say what to tune: CASE key=value");
  check_usage_error(place, "gemm --suite cpu", "say what to tune: CASE key=value");
  check_usage_error(place, "nonsense", "there is no case 'nonsense'; there are: gemm");
  check_usage_error(place, "--suite nonsense", "there is no suite 'nonsense'");
  check_usage_error(place, "gemm", "there is no file to store in", {{"CRISOL_TUNING", "0"}});
  check_usage_error(place, "gemm", "CRISOL_VARIANT is matmul:plain: unset it", {{"CRISOL_VARIANT", "matmul:plain"}});
  for (const char* word : {"m", "m=", "=3", "m=x", "m=-1", "m=3x", "m=99999999999999999999"}) {
    write_file(place.shapes, std::string("matmul ") + word + "\n");
    check_usage_error(place, "--shapes " + place.shapes, "is not name=number");
  }
  const ProcessResult missing = place.run("tune --shapes " + place.folder.path() + "/none");
  CHECK(missing.status == 1);
  CHECK(contains(missing.output, "[tune] cannot read " + place.folder.path() + "/none"));
}

TEST_CASE("crisol tune --share: the device's facts and what is stored for it, as a file for devices/") {
  NEEDS_CRISOL();
  const Place place;
  const std::string file = place.folder.path() + "/device.json";
  check_usage_error(place, "--dry-run", "--share FILE may stand alone");
  const ProcessResult nothing = place.run("tune --share " + file);
  CHECK(nothing.status == 1);
  CHECK(contains(nothing.output, "[tune] nothing is stored for "));
  CHECK_FALSE(std::filesystem::exists(file));

  const std::string device = tuning_device(Device().info());
  const std::vector<TuningEntry> entries{{device, product, 1, "plain", 10, "cpu_dot", 20},
                                         {device, "matmul m=7", 2, "cpu_dot", 30, "cpu_dot", 30},
                                         {device, "matmul m=8", 3, "cpu_dot", 0, "cpu_dot", 0},
                                         {"another device", "matmul m=9", 4, "plain", 10, "cpu_dot", 20}};
  set_variable("CRISOL_TUNING", place.tuned);
  for (const TuningEntry& entry : entries) store_tuning(entry);
  set_variable("CRISOL_TUNING", "0");
  const ProcessResult shared = place.run("tune --share " + file);
  INFO(shared.output);
  CHECK(shared.status == 0);
  CHECK(contains(shared.output, "wrote 2 problems to " + file));
  CHECK(to_json(read_device_info(file)) == to_json(Device().info()));
  const auto offline = nlohmann::json::parse(read_file(file)).at("offline");
  CHECK(offline.at("targets").empty());
  CHECK(contains(offline.at("sources").at(0), "`crisol tune --share` of crisol "));
  REQUIRE(offline.at("tuned").size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& tuned = offline.at("tuned")[i];
    CHECK(tuned.at("problem") == entries[i].problem);
    CHECK(tuned.at("variant") == entries[i].variant);
    CHECK(tuned.at("nanoseconds") == entries[i].nanoseconds);
    CHECK(tuned.at("usual") == entries[i].usual);
    CHECK(tuned.at("usual_nanoseconds") == entries[i].usual_nanoseconds);
  }
  const ProcessResult unwritable = place.run("tune --share " + place.folder.path() + "/none/device.json");
  CHECK(unwritable.status == 1);
  CHECK(contains(unwritable.output, "[tune] cannot write to "));
}

TEST_CASE("crisol cache: tuned problems are listed, and stay unless they are cleared as well") {
  NEEDS_CRISOL();
  const Place place;
  set_variable("CRISOL_TUNING", place.tuned);
  store_tuning({"a device", product, 1, "plain", 10, "cpu_dot", 20});
  set_variable("CRISOL_TUNING", "0");
  CHECK(contains(place.run("cache").output, "1 tuned problems in " + place.tuned));
  CHECK(place.run("cache clear").status == 0);
  CHECK(contains(place.run("cache").output, "1 tuned problems in " + place.tuned));
  CHECK(contains(place.run("cache clear --tuning").output, "removed 1 tuned problems from " + place.tuned));
  CHECK_FALSE(contains(place.run("cache").output, "tuned"));
}
