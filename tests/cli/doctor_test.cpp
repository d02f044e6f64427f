// `crisol doctor`: its report, and the problems that it reports.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "crisol/device.h"
#include "crisol/tuning.h"
#include "crisol/verification.h"
#include "crisol/version.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"
#include "support/small_disk.h"

using namespace crisol;
using namespace crisol::testing;
using nlohmann::json;

namespace {

/// A run with --json: standard output holds only its report.
struct Examination {
  ProcessResult result;
  json report;

  explicit Examination(ProcessResult run) : result(std::move(run)), report(json::parse(result.out)) {
    INFO(result.output);
    CHECK(report.at("format") == "crisol doctor");
    CHECK(report.at("crisol").at("version") == version());
    CHECK(result.status == (report.at("problems").empty() ? 0 : 1));
    for (const json& problem : report.at("problems")) {
      CHECK_FALSE(problem.at("problem").get<std::string>().empty());
      CHECK_FALSE(problem.at("remedy").get<std::string>().empty());
    }
  }
  const json& devices() const { return report.at("opencl").at("devices"); }
  bool has_problem(const std::string& part) const {
    for (const json& problem : report.at("problems"))
      if (contains(problem.at("problem"), part)) return true;
    return false;
  }
  /// The entry of this process's default device.
  json device() const {
    for (const json& one : devices())
      if (one.at("name") == Device().name() && one.value("platform", "") == Device().info().platform) return one;
    return {};
  }
};

Examination examine(const Environment& environment, const std::vector<std::string>& more = {}) {
  const std::vector<std::string> words{"doctor", "--json"};
  return Examination(run_built("crisol", words + more, environment));
}

/// Makes OpenCL's loader look for implementations in this folder.
Environment registered_in(const TemporaryFolder& folder) {
  return {{"OCL_ICD_VENDORS", folder.path()}, {"OCL_ICD_FILENAMES", ""}};
}

Environment operator+(Environment a, const Environment& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Copies the kernels and replaces a text in one file.
void change_kernel(const std::string& folder, const std::string& file, const std::string& from, const std::string& to) {
  std::filesystem::copy(CRISOL_SOURCE_DIR "/cl_kernels", folder, std::filesystem::copy_options::recursive);
  std::string text = read_file(folder + "/" + file);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  write_file(folder + "/" + file, text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("crisol doctor: what a bug report needs, as text and as JSON") {
  NEEDS_CRISOL();
  const ProcessResult result = run_built("crisol", {"doctor"});
  INFO(result.output);
  for (const Device device : devices())
    for (const std::string& part : {device.name(), device.info().platform, device.info().driver_version})
      CHECK_MESSAGE(contains(result.out, part), part);
  for (const std::string& part : {"crisol " + std::string(version()), std::string("Default device: "),
                                  std::string("loader"), std::string("matrix_fp16"), std::string("agree")})
    CHECK_MESSAGE(contains(result.out, part), part);
  CHECK(contains(result.out, "No problem was found.") == (result.status == 0));
  CHECK(contains(result.out, "What to do: ") == (result.status == 1));

  const Examination examined = examine({{"CRISOL_VERBOSE", "build"}});
  CHECK(examined.report.at("environment").at("CRISOL_VERBOSE") == "build");
  CHECK(examined.devices().size() == devices().size());
  CHECK(contains(result.out, "  registered ") != examined.report.at("opencl").at("implementations").empty());
  const json device = examined.device();
  REQUIRE(device.is_object());
  CHECK(device.at("driver_version") == Device().info().driver_version);
  CHECK(device.at("max_work_group") == Device().info().max_work_group);
  CHECK(device.at("extensions") == Device().info().extensions);
  CHECK(device.at("selftest").at("ops").get<int>() >= 9);
  CHECK(device.at("selftest").at("failed").empty());
  CHECK(device.at("failures").empty());
  CHECK(device.at("verified_driver") == is_verified_driver(Device().info()));
  CHECK(device.at("verifications").is_array());
  const bool measured = is_measured_device(Device().info());
  CHECK(device.at("tuning").at("measured_device") == measured);
  CHECK(device.at("tuning").at("entries") == 0);
  if (!measured) CHECK(contains(result.out, "Recommended: CRISOL_TUNE=first"));
  if (measured) CHECK(contains(result.out, "the rules that choose kernels were measured on such devices"));
  CHECK(device.at("probes").size() >= 4);
  CHECK_FALSE(examined.report.at("opencl").at("loader").at("name").get<std::string>().empty());
  CHECK(examined.report.at("folders").at("programs").at("writable").is_boolean());
}

TEST_CASE("crisol doctor: no implementation, one that is not there, one that is no implementation") {
  NEEDS_CRISOL();
  NEEDS_POSIX("an OpenCL loader that reads .icd files");
  const TemporaryFolder folder;
  const Examination none = examine(registered_in(folder));
  CHECK(none.devices().empty());
  CHECK(none.has_problem("no OpenCL implementation is registered in " + folder.path()));
  CHECK(none.report.at("problems").size() == 1);
  const ProcessResult text = run_built("crisol", {"doctor"}, registered_in(folder));
  CHECK(text.status == 1);
  CHECK(contains(text.out, "What to do: install the OpenCL driver"));

  write_file(folder.path() + "/gone.icd", "libcrisol_is_not_there.so.1\n");
  write_file(folder.path() + "/other.icd", "libstdc++.so.6\n");
  const Examination broken = examine(registered_in(folder));
  CHECK(broken.has_problem(folder.path() + "/gone.icd: the OpenCL implementation libcrisol_is_not_there.so.1 cannot"));
  CHECK(broken.has_problem("other.icd: the OpenCL implementation libstdc++.so.6 cannot be loaded"));
  CHECK(broken.report.at("opencl").at("implementations").size() == 2);
}

TEST_CASE("crisol doctor: a device that is not there") {
  NEEDS_CRISOL();
  if (few_images_only()) CRISOL_SKIP("its selftest takes long here");
  const Examination examined = examine({}, {"--device", "no such device"});
  CHECK(examined.has_problem("no such device"));
  CHECK(examined.report.at("opencl").at("default").is_null());
  CHECK(examined.device().is_object());
}

TEST_CASE("crisol doctor: folders that cannot be written, and files in them") {
  NEEDS_CRISOL();
  NEEDS_POSIX("a file system with permissions");
  const TemporaryFolder nobody, folder;
  const auto examine_cache = [&](const std::string& cache) {
    return examine(registered_in(nobody) + Environment{{"CRISOL_CACHE_DIR", cache}});
  };
  const std::string file = folder.path() + "/file", cache = folder.path() + "/cache";
  write_file(file, "no folder");
  const Examination below_file = examine_cache(file + "/cache");
  CHECK(below_file.has_problem("compiled programs cannot be stored: "));
  CHECK(below_file.report.at("folders").at("programs").at("writable") == false);

  const Examination missing = examine_cache(cache);
  CHECK(missing.report.at("folders").at("programs").at("exists") == false);
  CHECK(missing.report.at("folders").at("programs").at("writable") == true);
  CHECK(missing.report.at("problems").size() == 1);  // The missing implementation.
  CHECK_FALSE(std::filesystem::exists(cache));

  std::filesystem::create_directory(cache);
  write_file(cache + "/0123456789abcdef.bin", "not a program");
  std::filesystem::permissions(cache, std::filesystem::perms::all);
  const Examination damaged = examine_cache(cache);
  CHECK(damaged.has_problem("damaged files in " + cache + ": 1"));
  CHECK(damaged.has_problem("other users can change compiled programs, so none are stored or loaded: " + cache));
  CHECK(damaged.report.at("folders").at("programs").at("used") == false);
  CHECK(damaged.report.at("folders").at("programs").at("permissions") == "rwxrwxrwx");
  CHECK(std::distance(std::filesystem::directory_iterator(cache), {}) == 1);  // No probe file is left.

  const Examination homeless =
      examine(registered_in(nobody) + Environment{{"CRISOL_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}});
  CHECK(homeless.has_problem("compiled programs are not stored"));

  const SmallDisk disk(64);
  if (!disk.mounted()) CRISOL_SKIP("the rest needs a small file system, which takes root's rights");
  CHECK(examine_cache(disk.path()).has_problem("bytes are free for compiled programs"));
  disk.fill();
  CHECK(examine_cache(disk.path()).has_problem("the disk is full"));
  disk.make_read_only();
  CHECK(examine_cache(disk.path()).has_problem("no file can be made in " + disk.path()));
}

TEST_CASE("crisol doctor: neither the user's name nor the user's home") {
  NEEDS_CRISOL();
  NEEDS_POSIX("HOME and USER");
  const TemporaryFolder folder;
  const std::string home = folder.path() + "/margarethe";
  const Examination examined = examine({{"HOME", home},
                                        {"USER", "margarethe"},
                                        {"OCL_ICD_VENDORS", home + "/vendors"},
                                        {"OCL_ICD_FILENAMES", "/media/margarethe/libmine.so"},
                                        {"CRISOL_CACHE_DIR", home},
                                        {"CRISOL_DUMP_DIR", home + "-other"}});
  INFO(examined.result.output);
  const json& environment = examined.report.at("environment");
  CHECK(environment.at("CRISOL_CACHE_DIR") == "~");
  CHECK(environment.at("OCL_ICD_VENDORS") == "~/vendors");
  CHECK(environment.at("OCL_ICD_FILENAMES") == "/media/USER/libmine.so");
  CHECK(environment.at("CRISOL_DUMP_DIR") == home + "-other");  // Only a whole folder name is replaced.
  CHECK(examined.report.at("folders").at("programs").at("path") == "~");
  std::string text = examined.result.out;
  text.erase(text.find(home + "-other"), (home + "-other").size());
  CHECK_FALSE(contains(text, "margarethe"));
}

TEST_CASE("crisol doctor: wrong results of a device are a problem") {
  NEEDS_CRISOL();
  if (few_images_only()) CRISOL_SKIP("its selftest takes long here");
  const TemporaryFolder folder;
  const std::string kernels = folder.path() + "/kernels";
  change_kernel(kernels, "optim/adam.h", "m += step->one_minus_beta1", "m += 2.0f * step->one_minus_beta1");
  const Examination examined =
      examine({{"CRISOL_KERNEL_PATH", kernels}, {"CRISOL_CACHE_DIR", folder.path() + "/cache"}});
  CHECK(examined.has_problem(": wrong results of adam_step"));
  const json failed = examined.device().at("selftest").at("failed");
  REQUIRE(failed.size() == 1);
  CHECK(failed.at(0).at("op") == "adam_step");
  CHECK(contains(failed.at(0).at("failure"), "expected"));
}

TEST_CASE("crisol doctor: a variant that the library passes over is a problem, and its op agrees") {
  NEEDS_CRISOL();
  if (few_images_only()) CRISOL_SKIP("its selftest takes long here");
  if (Device().info().type != DeviceType::cpu) CRISOL_SKIP("breaks a kernel that CPUs choose");
  const TemporaryFolder folder;
  const std::string kernels = folder.path() + "/kernels";
  change_kernel(kernels, "conv/cpu/conv2d_planes.cl", "sums[o] = acc[o];", "sums[o] = acc[o] + 1.0f;");
  const Examination examined = examine(
      {{"CRISOL_KERNEL_PATH", kernels}, {"CRISOL_CACHE_DIR", folder.path() + "/cache"}, {"CRISOL_VERIFY", "always"}});
  CHECK(examined.has_problem(": the variant planes of conv2d disagrees: "));
  CHECK(examined.report.at("problems").size() == 1);
  CHECK(examined.device().at("selftest").at("failed").empty());
}

TEST_CASE("crisol doctor: a driver that crashes is a problem, and the rest of the report is there") {
  NEEDS_CRISOL();
  NEEDS_POSIX("a process for each device");
  if (Device().info().platform != "Portable Computing Language") CRISOL_SKIP("a kernel that crashes PoCL");
  const TemporaryFolder folder;
  const std::string kernels = folder.path() + "/kernels";
  change_kernel(kernels, "optim/optimizer_adam.cl", "  adam_blocks(",
                "  *(volatile __global int*)8 = 1;\n  adam_blocks(");
  const Examination examined =
      examine({{"CRISOL_KERNEL_PATH", kernels}, {"CRISOL_CACHE_DIR", folder.path() + "/cache"}});
  CHECK(examined.has_problem(": selftest: its process ended with signal "));
  const json device = examined.device();
  REQUIRE(device.is_object());
  CHECK(device.at("driver_version") == Device().info().driver_version);
  CHECK(device.at("probes").size() >= 4);
  CHECK_FALSE(device.contains("selftest"));
}
