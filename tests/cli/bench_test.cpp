// `crisol bench`, as users and scripts run it. The tests check that times are printed, but not their values.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/onnx.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol::testing;

namespace {

ProcessResult bench(const std::string& line) { return run_built("crisol", words_of("bench " + line)); }

nlohmann::json measured(const std::string& line) {
  const ProcessResult result = bench(line + " --json --repeat 2 --no-peak");
  INFO(line << ": " << result.output);
  REQUIRE(result.status == 0);
  const nlohmann::json json = nlohmann::json::parse(result.out);
  const double median = json.at("median_ms"), least = json.at("min_ms");
  CHECK(least > 0);
  CHECK(median >= least);
  CHECK(json.at("samples") == 2);
  CHECK(json.at("spread").get<double>() >= 0);
  CHECK_FALSE(json.at("variant").get<std::string>().empty());
  CHECK(json.at("device") == crisol::Device().name());
  CHECK(json.at("case") == line);
  return json;
}

// The work of one run: the printed rate times the printed time.
double work_of(const nlohmann::json& json, const char* rate) {
  return json.at(rate).get<double>() * json.at("median_ms").get<double>() * 1e6;
}

void check_usage_error(const std::string& line, std::initializer_list<const char*> parts) {
  const ProcessResult result = bench(line);
  INFO(line << ": " << result.output);
  CHECK(result.status == 2);
  for (const char* part : parts) CHECK(contains(result.output, part));
}

}  // namespace

// Unlike NEEDS_CRISOL(), this lets the small cases run on a simulator too.
#define NEEDS_BENCH() \
  if (built_program("crisol").empty()) CRISOL_SKIP("the crisol program is not built")

TEST_CASE("bench: cases that count operations") {
  NEEDS_BENCH();
  CHECK(work_of(measured("gemm m=3 n=5 k=7"), "gflops") == doctest::Approx(2 * 3 * 5 * 7));
  for (const char* format : {"f16", "bf16", "i8", "q8", "q4", "q4 block=0"})
    CHECK(work_of(measured(std::string("gemm m=3 n=5 k=7 dtype=") + format), "gflops") ==
          doctest::Approx(2 * 3 * 5 * 7));
  CHECK(work_of(measured("gemm m=3 n=5 k=7 transa=1 transb=1 batch=2"), "gflops") == doctest::Approx(4 * 3 * 5 * 7));
  for (const char* direction : {"fwd", "bwd_data", "bwd_weights", "train"}) {
    const std::string line = "conv2d n=1 c=2 h=5 w=5 k=4 groups=2 dir=" + std::string(direction);
    const double forward = 2.0 * 4 * 5 * 5 * 1 * 9;
    CHECK(work_of(measured(line), "gflops") ==
          doctest::Approx(direction == std::string("train") ? 3 * forward : forward));
  }
}

TEST_CASE("bench: cases that count bytes" * doctest::test_suite("long")) {
  NEEDS_BENCH();
  CHECK(work_of(measured("eltwise chain=add elements=100"), "gbps") == doctest::Approx(1200));
  CHECK(work_of(measured("eltwise chain=gate elements=64 fused=0"), "gbps") == doctest::Approx(64 * 12));
  CHECK(work_of(measured("eltwise chain=gate elements=64 fused=1"), "gbps") == doctest::Approx(64 * 12));
  CHECK(work_of(measured("eltwise chain=bias_relu elements=4096"), "gbps") == doctest::Approx(2 * 4096 * 4));
  CHECK(work_of(measured("reduce op=max rows=3 cols=4 over=cols"), "gbps") == doctest::Approx(48));
  CHECK(work_of(measured("softmax rows=2 cols=8"), "gbps") == doctest::Approx(128));
  CHECK(work_of(measured("norm kind=layer rows=2 cols=8 dir=train"), "gbps") == doctest::Approx(5 * 64));
  CHECK(work_of(measured("norm kind=batch n=1 c=2 h=2 w=2 dir=bwd"), "gbps") == doctest::Approx(3 * 32));
  CHECK(work_of(measured("pool kind=avg n=1 c=1 h=4 w=4 dir=fwd"), "gbps") == doctest::Approx(80));
  CHECK(work_of(measured("pool kind=max n=1 c=1 h=4 w=4 dir=train"), "gbps") == doctest::Approx(192));
  CHECK(work_of(measured("copy bytes=64 dir=h2d"), "gbps") == doctest::Approx(64));
}

TEST_CASE("bench: launches have a time and no rate" * doctest::test_suite("long")) {
  NEEDS_BENCH();
  for (const char* what : {"kernel", "op wait=1", "product", "conv2d", "conv2d_train", "lstm", "lstm_train", "gru"}) {
    const nlohmann::json json = measured("launch what=" + std::string(what));
    CHECK_FALSE(json.contains("gflops"));
    CHECK_FALSE(json.contains("gbps"));
    CHECK(json.at("host_ms").get<double>() > 0);
  }
}

TEST_CASE("bench: the host's time for a device that is not there") {
  NEEDS_BENCH();
  if (crisol::Device().info().platform != "Portable Computing Language")
    CRISOL_SKIP("the same whatever implementation there is; done beside PoCL");
  NEEDS_POSIX("an OpenCL loader that takes a driver from a variable");
  const std::string file = CRISOL_SOURCE_DIR "/devices/nvidia-h100.json";
  const ProcessResult result = bench("launch what=lstm --json --repeat 2 --for " + file);
  INFO(result.output);
  REQUIRE(result.status == 0);
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(contains(json.at("device"), "H100"));
  CHECK(contains(json.at("variant"), "rnn_forward:persistent_weights"));
  CHECK(json.at("host_ms").get<double>() > 0);
  CHECK(bench("launch --for nowhere.json").status == 1);
}

TEST_CASE("bench: recurrent networks count both products of every layer and step" * doctest::test_suite("long")) {
  NEEDS_BENCH();
  const double of_gate = 2.0 * 3 * 2 * 4 * (5 + 4 + 4 + 4);
  for (const auto& [kind, gates] : {std::pair{"rnn", 1}, {"lstm", 4}, {"gru", 3}}) {
    const std::string line = "rnn t=3 b=2 i=5 h=4 layers=2 kind=" + std::string(kind);
    CHECK(work_of(measured(line), "gflops") == doctest::Approx(gates * of_gate));
    CHECK(work_of(measured(line + " dir=train"), "gflops") == doctest::Approx(3 * gates * of_gate));
  }
}

TEST_CASE("bench: cases take halves, and i8 where it has a meaning" * doctest::test_suite("long")) {
  NEEDS_BENCH();
  if (slow_device()) CRISOL_SKIP("a network takes too long here");
  const std::pair<const char*, bool> cases[] = {{"gemm m=8 n=8 k=8", true},
                                                {"conv2d n=1 c=2 h=8 w=8 k=2", false},
                                                {"pool n=1 c=2 h=8 w=8", false},
                                                {"norm", false},
                                                {"softmax rows=4 cols=8", false},
                                                {"attention batch=1 heads=1 rows=4 keys=4 depth=8", false},
                                                {"eltwise chain=add elements=64", true},
                                                {"reduce rows=4 cols=8", true},
                                                {"rnn t=2 b=2 i=4 h=4", false},
                                                {"net batch=2", false}};
  for (const auto& [line, takes_bytes] : cases) {
    for (const char* dtype : {"f16", "bf16"})
      CHECK(measured(line + std::string(" dtype=") + dtype).contains("median_ms"));
    if (takes_bytes)
      CHECK(measured(line + std::string(" dtype=i8")).contains("median_ms"));
    else
      check_usage_error(line + std::string(" dtype=i8"), {"dtype cannot be 'i8'", "f32|f16|bf16"});
  }
}

TEST_CASE("bench: a network says how many images it does") {
  NEEDS_BENCH();
  if (slow_device()) CRISOL_SKIP("a network takes too long here");
  const nlohmann::json json = measured("net net=simplecnn batch=2 mode=infer");
  CHECK(json.at("items_per_second").get<double>() * json.at("median_ms").get<double>() == doctest::Approx(2000));
  CHECK(contains(json.at("variant"), "conv2d"));
}

TEST_CASE("bench: text, with the device's peak") {
  NEEDS_BENCH();
  const ProcessResult result = bench("gemm m=4 n=4 k=4 --repeat 1");
  INFO(result.output);
  CHECK(result.status == 0);
  for (const char* part : {"measured: ", "GFLOP/s, copy ", "median", "gemm m=4 n=4 k=4", "matmul:"})
    CHECK(contains(result.output, part));
}

TEST_CASE("bench: a wrong word is answered with the right ones") {
  NEEDS_BENCH();
  check_usage_error("gem",
                    {"'gem'", "gemm", "conv2d", "pool", "norm", "softmax", "eltwise", "reduce", "net", "launch"});
  check_usage_error("gemm q=3", {"'q'", "m=1024", "transa=0", "wait=0"});
  check_usage_error("gemm 64", {"'64'", "key=value", "m=1024"});
  check_usage_error("gemm dtype=q4 block=33", {"block cannot be '33'", "multiple of 32"});
  check_usage_error("gemm dtype=q8 transb=1", {"transposed"});
  check_usage_error("gemm dtype=i8 batch=2", {"dtype=i8"});
  check_usage_error("gemm m=0", {"m cannot be '0'", ">=1"});
  check_usage_error("gemm m=-4", {"m cannot be '-4'"});
  check_usage_error("gemm m=12x", {"m cannot be '12x'"});
  check_usage_error("gemm m=9999999999999999999", {"m cannot be"});
  check_usage_error("conv2d dir=back", {"'back'", "fwd|bwd_data|bwd_weights|train"});
  check_usage_error("--suite nothing", {"'nothing'", "eltwise", "cpu", "all"});
}

TEST_CASE("bench: the list documents cases, and suites name valid ones") {
  NEEDS_BENCH();
  const ProcessResult list = bench("--list");
  CHECK(list.status == 0);
  for (const char* part : {"gemm: ", "transa=0", "eltwise: ", "chain6", "every case:", "wait=0", "suites: "})
    CHECK(contains(list.output, part));
  const ProcessResult help = bench("--help");
  CHECK(help.status == 0);
  CHECK(contains(help.output, "transa=0"));
  const ProcessResult suite = bench("--suite --list");
  CHECK(suite.status == 0);
  for (const char* part :
       {"gemm m=2048 n=2048 k=2048\n", "eltwise chain=gate", "net net=simplecnn batch=64 mode=train"})
    CHECK(contains(suite.output, part));
}

TEST_CASE("bench: --save-onnx writes a network") {
  NEEDS_BENCH();
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx";
  const ProcessResult result = bench("net net=simplecnn batch=2 --save-onnx " + path);
  INFO(result.output);
  REQUIRE(result.status == 0);
  const crisol::onnx::ModelInfo info = crisol::onnx::read_info(path);
  CHECK(info.inputs.front().shape.front().name == "batch");
  CHECK(info.outputs.size() == 1);
  check_usage_error("gemm m=3 --save-onnx " + path, {"--save-onnx is for a network"});
  check_usage_error("--suite nets --save-onnx " + path, {"--save-onnx takes one case"});
}
