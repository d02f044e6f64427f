// `crisol kernels`: the programs that the library would build for a device that this machine does not have.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "crisol/device.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

DeviceInfo imagined_gpu() {
  DeviceInfo info;
  info.name = "Imagined 3000";
  info.vendor = info.platform = info.platform_vendor = "Imagined";
  info.driver_version = "1";
  info.device_version = "OpenCL 1.2 ";
  info.opencl_c_version = "OpenCL C 1.2 ";
  info.type = DeviceType::gpu;
  info.compute_units = 20;
  info.global_memory = 4ull << 30;
  info.max_allocation = 1ull << 30;
  info.local_memory = 32 << 10;
  info.max_work_group = 256;
  info.max_work_item_sizes = {256, 256, 256};
  info.dedicated_local_memory = true;
  info.fast_fma = true;
  return info;
}

#define NEEDS_KERNELS()                                                                  \
  do {                                                                                   \
    if (built_program("crisol").empty()) CRISOL_SKIP("the crisol program is not built"); \
    if (Device().info().platform != "Portable Computing Language")                       \
      CRISOL_SKIP("the same whatever implementation there is; done beside PoCL");        \
  } while (false)

}  // namespace

TEST_CASE("crisol kernels: programs and launches for a GPU that is not there") {
  NEEDS_KERNELS();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/device.json", dump = folder.path() + "/dump";
  auto device = nlohmann::json::parse(to_json(imagined_gpu()));
  device["offline"] = {{"targets", {"sm_80"}}};
  write_file(file, device.dump());
  const ProcessResult result =
      run_built("crisol", words_of("kernels --for " + file + " --dump " + dump + " net net=simplecnn batch=8"),
                {{"CRISOL_DEVICE", "no such device"}});
  INFO(result.output);
  REQUIRE(result.status == 0);
  CHECK(contains(result.output, "for Imagined 3000"));

  const auto index = nlohmann::json::parse(read_file(dump + "/index.json"));
  CHECK(index.at("device") == device);
  CHECK(index.at("parts").size() == 1);
  std::set<std::string> kernels;
  for (const auto& program : index.at("programs")) {
    const std::string source = read_file(dump + "/" + program.at("file").get<std::string>());
    for (const auto& kernel : program.at("kernels")) {
      const auto name = kernel.at("name").get<std::string>();
      CHECK(contains(source, name));
      kernels.insert(name);
      for (const auto& launch : kernel.at("launches")) {
        CHECK(launch.at("global").size() >= 1);
        CHECK(launch.at("times").get<int>() >= 1);
      }
    }
  }
  CHECK(kernels.count("optimizer_adam") == 1);
  CHECK(kernels.size() > 8);
}

TEST_CASE("crisol kernels: probes are answered as the device's file says") {
  NEEDS_KERNELS();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/device.json", dump = folder.path() + "/dump";
  auto device = nlohmann::json::parse(to_json(imagined_gpu()));
  const auto run = [&](const nlohmann::json& probes) {
    device["offline"] = {{"probes", probes}};
    write_file(file, device.dump());
    const ProcessResult result = run_built(
        "crisol", words_of("kernels --for " + file + " --dump " + dump + " gemm m=64 n=64 k=64 precision=fp16"));
    if (result.status != 0) return result.output;
    std::string programs;
    const auto index = nlohmann::json::parse(read_file(dump + "/index.json"));
    for (const auto& program : index.at("programs"))
      programs += read_file(dump + "/" + program.at("file").get<std::string>());
    return programs;
  };
  CHECK(contains(run({{"matrix_fp16", "mfma"}}), "#define UNIT 3\n"));
  CHECK(!contains(run({{"matrix_bf16", "mfma"}}), "#define UNIT 3\n"));
  CHECK(contains(run({{"matrix_fp16", "abacus"}}), "matrix_fp16 cannot find 'abacus'"));
  CHECK(contains(run({{"matrix_fp8", "mfma"}}), "there is no probe 'matrix_fp8'"));
}

TEST_CASE("crisol kernels: the options of a kernel reach the compiler") {
  NEEDS_KERNELS();
  const TemporaryFolder folder;
  const std::string dump = folder.path() + "/dump";
  const auto options_of = [&](const std::string& words) {
    const ProcessResult result = run_built(
        "crisol",
        words_of("kernels --for " CRISOL_SOURCE_DIR "/devices/nvidia-h100.json --dump " + dump + " " + words));
    INFO(result.output);
    REQUIRE(result.status == 0);
    const auto index = nlohmann::json::parse(read_file(dump + "/index.json"));
    std::string options;
    for (const auto& program : index.at("programs")) options += program.at("options").get<std::string>() + '\n';
    return options;
  };
  CHECK(contains(options_of("gemm m=4096 n=4096 k=4096"), "-cl-nv-maxrregcount=128"));
  CHECK(contains(options_of("eltwise chain=exp"), "-cl-fp32-correctly-rounded-divide-sqrt"));
}

TEST_CASE("crisol kernels: each file of devices/ tells a device and where its facts come from") {
  NEEDS_KERNELS();
  const TemporaryFolder folder;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CRISOL_SOURCE_DIR "/devices")) {
    const std::string file = entry.path().string();
    CAPTURE(file);
    const DeviceInfo info = read_device_info(file);
    CHECK(info.max_work_item_sizes.size() == 3);
    CHECK(info.local_memory >= 32 << 10);
    CHECK(info.max_allocation <= info.global_memory);
    const auto offline = nlohmann::json::parse(read_file(file)).at("offline");
    CHECK(offline.at("sources").size() >= 1);
    CHECK((offline.at("targets").size() == 1) == (info.type == DeviceType::gpu));
    const ProcessResult result =
        run_built("crisol", words_of("kernels --for " + file + " --dump " + folder.path() + " gemm m=64 n=64 k=64"));
    INFO(result.output);
    CHECK(result.status == 0);
    ++files;
  }
  CHECK(files >= 16);
}

TEST_CASE("crisol kernels: what is wrong with the file, the case or the folder") {
  NEEDS_KERNELS();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/device.json", with_file = "kernels --for " + file + " --dump ";
  write_file(file, to_json(imagined_gpu()));
  const auto check = [](const std::string& line, int status, const char* part) {
    const ProcessResult result = run_built("crisol", words_of(line));
    INFO(line << ": " << result.output);
    CHECK(result.status == status);
    CHECK(contains(result.output, part));
  };
  check("kernels --for /no/such/file.json --dump " + folder.path(), 1, "cannot open /no/such/file.json");
  check(with_file + folder.path() + " nonsense", 2, "nonsense");
  check(with_file + file + "/below eltwise elements=10", 1, "cannot write");
  check("kernels --dump " + folder.path(), 2, "--for");
}
