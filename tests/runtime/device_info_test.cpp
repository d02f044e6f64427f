#include "crisol/device.h"
#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

namespace {

std::string device_file(const crisol::testing::TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder.path() + "/device.json";
  crisol::testing::write_file(path, text);
  return path;
}

}  // namespace

TEST_CASE("a DeviceInfo survives being written and read") {
  const crisol::DeviceInfo info = crisol::Device().info();
  const crisol::testing::TemporaryFolder folder;
  const crisol::DeviceInfo read = crisol::read_device_info(device_file(folder, crisol::to_json(info)));
  CHECK(crisol::to_json(read) == crisol::to_json(info));
  CHECK(read.name == info.name);
  CHECK(read.type == info.type);
  CHECK(read.max_work_item_sizes == info.max_work_item_sizes);
}

TEST_CASE("facts of this device are plausible") {
  const crisol::DeviceInfo& info = crisol::Device().info();
  CHECK_FALSE(info.name.empty());
  CHECK_FALSE(info.platform.empty());
  CHECK_FALSE(info.driver_version.empty());
  CHECK(info.compute_units >= 1);
  CHECK(info.global_memory > 0);
  CHECK(info.max_allocation > 0);
  CHECK(info.max_work_group >= 1);
  CHECK(info.has_compiler);
}

TEST_CASE("extensions are compared as whole words") {
  crisol::DeviceInfo info;
  info.extensions = "cl_khr_fp16 cl_khr_subgroups_ext cl_khr_fp64";
  CHECK(info.has_extension("cl_khr_fp16"));
  CHECK(info.has_extension("cl_khr_fp64"));
  CHECK_FALSE(info.has_extension("cl_khr_subgroups"));
  CHECK_FALSE(info.has_extension("khr_fp16"));
}

TEST_CASE("a bad device file is refused with its fault") {
  const crisol::testing::TemporaryFolder folder;
  const auto refuse = [&](const char* text, const char* part) {
    CHECK_THROWS_WITH_AS(crisol::read_device_info(device_file(folder, text)), doctest::Contains(part), crisol::Error);
  };
  refuse(R"({"nmae": "x"})", "unknown key 'nmae'");
  refuse(R"({"compute_units": "many"})", "must be number");
  refuse(R"({"type": "tpu"})", "gpu, accelerator or cpu");
  refuse("{", "parse error");
  CHECK_THROWS_WITH_AS(crisol::read_device_info(folder.path() + "/none"), doctest::Contains("cannot open"),
                       crisol::Error);
}
