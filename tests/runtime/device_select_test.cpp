#include "runtime/device/device_select.h"

#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/two_devices.h"

namespace {

using crisol::DeviceInfo;
using crisol::DeviceType;
using crisol::Error;
using crisol::ErrorCode;
using crisol::runtime::Candidate;
using crisol::runtime::select_default;
using crisol::runtime::select_device;

DeviceInfo device(const char* name, const char* vendor, const char* platform, DeviceType type, std::uint64_t gib) {
  DeviceInfo info;
  info.name = name;
  info.vendor = vendor;
  info.platform = platform;
  info.type = type;
  info.global_memory = gib << 30;
  return info;
}

// Two platforms, one of them with two devices: hardware that no test machine has.
struct Machine {
  std::vector<DeviceInfo> infos{
      device("pthread-Zen", "AuthenticAMD", "Portable Computing Language", DeviceType::cpu, 64),
      device("NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA", DeviceType::gpu, 141),
      device("NVIDIA GeForce RTX 4090", "NVIDIA Corporation", "NVIDIA CUDA", DeviceType::gpu, 24),
      device("FPGA board", "Acme", "Acme SDK", DeviceType::accelerator, 500),
  };
  std::vector<Candidate> list() const {
    return {{&infos[0], 0, 0}, {&infos[1], 1, 0}, {&infos[2], 1, 1}, {&infos[3], 2, 0}};
  }
  std::size_t select(const char* spec) const { return select_device(list(), spec, "CRISOL_DEVICE"); }
  std::string refusal(const char* spec) const {
    try {
      select(spec);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::device_not_found);
      return error.what();
    }
    return {};
  }
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a device is selected by type, with and without a number") {
  const Machine machine;
  CHECK(machine.select("gpu") == 1);
  CHECK(machine.select("GPU:1") == 2);
  CHECK(machine.select("cpu") == 0);
  CHECK(machine.select("cpu:0") == 0);
  CHECK(machine.select("accelerator") == 3);
}

TEST_CASE("a device is selected by platform and device index") {
  const Machine machine;
  CHECK(machine.select("0:0") == 0);
  CHECK(machine.select("1:1") == 2);
  CHECK(contains(machine.refusal("1:2"), "no such platform and device index"));
  CHECK(contains(machine.refusal("7:0"), "1:1  NVIDIA GeForce RTX 4090"));
}

TEST_CASE("a device is selected by a part of a name, whatever its case") {
  Machine machine;
  CHECK(machine.select("h200") == 1);
  CHECK(machine.select("geforce") == 2);
  CHECK(machine.select("portable") == 0);
  machine.infos[0].platform_vendor = "The pocl project";
  CHECK(machine.select("pocl") == 0);
  CHECK(machine.select("ACME") == 3);
  CHECK(machine.select("nvidia") == 1);  // Several match equally; the first one counts.
  CHECK(machine.select("nvidia:1") == 2);
}

namespace {

DeviceInfo from_platform(const char* name, const char* vendor, const char* platform, const char* platform_vendor,
                         DeviceType type) {
  DeviceInfo info = device(name, vendor, platform, type, 16);
  info.platform_vendor = platform_vendor;
  return info;
}

// What a text selects, in the order of `:0`, `:1`, …, by the letters of the devices.
std::string order_of(const std::vector<std::pair<char, DeviceInfo>>& machine, const std::string& text) {
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < machine.size(); ++i) list.push_back({&machine[i].second, static_cast<int>(i), 0});
  std::string order;
  try {
    const char first = machine[select_device(list, text, "CRISOL_DEVICE")].first;
    for (std::size_t n = 0; n < machine.size(); ++n)
      order += machine[select_device(list, text + ':' + std::to_string(n), "CRISOL_DEVICE")].first;
    CHECK(first == order[0]);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device_not_found);  // One past the last.
  }
  return order;
}

}  // namespace

TEST_CASE("a maker's platform comes before other platforms on the maker's processors, and a GPU before a CPU") {
  const auto pocl_on = [](const char* vendor, const char* name) {
    return from_platform(name, vendor, "Portable Computing Language", "The pocl project", DeviceType::cpu);
  };
  const auto rusticl = [](const char* vendor, const char* name) {
    return from_platform(name, vendor, "rusticl", "Mesa/X.org", DeviceType::gpu);
  };
  const DeviceInfo intel_cpu = from_platform("Intel(R) Xeon(R) Processor", "Intel(R) Corporation", "Intel(R) OpenCL",
                                             "Intel(R) Corporation", DeviceType::cpu);
  const DeviceInfo arc = from_platform("Intel(R) Arc(TM) A770", "Intel(R) Corporation", "Intel(R) OpenCL Graphics",
                                       "Intel(R) Corporation", DeviceType::gpu);
  const DeviceInfo pocl_intel = pocl_on("GenuineIntel", "pthread-skylake-avx512-Intel(R) Xeon(R) Processor");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}}, "intel") == "ip");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}}, "INTEL") == "ip");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}, {'g', arc}}, "Intel") == "gip");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}, {'g', arc}}, "intel(r) opencl") == "gi");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}}, "xeon") == "pi");
  CHECK(order_of({{'p', pocl_intel}, {'i', intel_cpu}}, "genuineintel") == "p");
  CHECK(order_of({{'p', pocl_intel}, {'r', rusticl("Intel", "Mesa Intel(R) Graphics")}}, "intel") == "rp");
  // A vendor that PoCL gives in words is worth less than the platform of the maker, on devices of one type.
  CHECK(order_of({{'p', pocl_on("Intel(R) Corporation", "cpu")}, {'i', intel_cpu}}, "intel") == "ip");

  const DeviceInfo pocl_amd = pocl_on("AuthenticAMD", "pthread-znver4-AMD EPYC 9654");
  const DeviceInfo radeon =
      from_platform("gfx1100", "Advanced Micro Devices, Inc.", "AMD Accelerated Parallel Processing",
                    "Advanced Micro Devices, Inc.", DeviceType::gpu);
  CHECK(order_of({{'p', pocl_amd}, {'g', radeon}}, "amd") == "gp");
  CHECK(order_of({{'p', pocl_amd}, {'r', rusticl("AMD", "AMD Radeon RX 7900")}, {'g', radeon}}, "AMD") == "grp");
  CHECK(order_of({{'p', pocl_on("Advanced Micro Devices", "cpu")}, {'g', radeon}}, "advanced micro") == "gp");
  CHECK(order_of({{'p', pocl_amd}, {'g', radeon}}, "gfx") == "g");

  const DeviceInfo cuda =
      from_platform("NVIDIA H100", "NVIDIA Corporation", "NVIDIA CUDA", "NVIDIA Corporation", DeviceType::gpu);
  DeviceInfo pocl_gpu = pocl_on("NVIDIA Corporation", "NVIDIA H100");
  pocl_gpu.type = DeviceType::gpu;
  CHECK(order_of({{'p', pocl_gpu}, {'c', cuda}}, "nvidia") == "cp");
  CHECK(order_of({{'c', cuda}, {'p', pocl_gpu}}, "pocl") == "p");
  CHECK(order_of({{'c', cuda}, {'d', cuda}}, "Nvidia") == "cd");  // Equal devices stay in the loader's order.

  const DeviceInfo mali = from_platform("Mali-G78 r0p1", "ARM", "ARM Platform", "ARM", DeviceType::gpu);
  CHECK(order_of({{'p', pocl_on("ARM", "pthread-cortex-a76")}, {'m', mali}}, "arm") == "mp");
  CHECK(order_of({{'p', pocl_on("ARM", "pthread-cortex-a76")}, {'m', mali}}, "mali") == "m");
  CHECK(order_of({{'p', pocl_on("0x41", "pthread-alarm")}, {'m', mali}}, "arm") == "mp");
}

TEST_CASE("a text that names no device is refused with the list of devices") {
  const Machine machine;
  const std::string text = machine.refusal("radeon");
  CHECK(contains(text, "CRISOL_DEVICE 'radeon': no device matches"));
  CHECK(contains(text, "0:0  pthread-Zen"));
  CHECK(contains(text, "2:0  FPGA board"));
  CHECK(contains(text, "write gpu, cpu or accelerator"));
  CHECK(contains(machine.refusal("gpu:2"), "only 2 match"));
  CHECK(contains(machine.refusal(":1"), "it is empty"));
  CHECK(contains(machine.refusal("gpu:x"), "no device matches"));
  CHECK(contains(machine.refusal("gpu:99999999999"), "no device matches"));
}

TEST_CASE("a device without a compiler is refused when named and passed over otherwise") {
  Machine machine;
  machine.infos[1].has_compiler = false;
  CHECK(contains(machine.refusal("h200"), "has no OpenCL compiler"));
  CHECK(select_default(machine.list()).index == 2);
  for (DeviceInfo& info : machine.infos) info.has_compiler = false;
  CHECK_THROWS_AS(select_default(machine.list()), Error);
}

TEST_CASE("the default is the GPU with the most memory of its own, then other GPUs, accelerators, CPUs") {
  Machine machine;
  CHECK(select_default(machine.list()).index == 1);
  machine.infos[2].global_memory = std::uint64_t{200} << 30;
  CHECK(select_default(machine.list()).index == 2);
  CHECK(select_default(machine.list()).reason == "the GPU with the most memory of its own");
  machine.infos[2].unified_memory = true;  // Part of a processor: it uses the host's memory.
  CHECK(select_default(machine.list()).index == 1);
  machine.infos[1].unified_memory = true;
  CHECK(select_default(machine.list()).index == 2);
  CHECK(contains(select_default(machine.list()).reason, "no GPU with memory of its own"));
  machine.infos[1].type = machine.infos[2].type = DeviceType::cpu;
  CHECK(select_default(machine.list()).index == 3);
  machine.infos[3].type = DeviceType::cpu;
  CHECK(select_default(machine.list()).index == 0);
}

TEST_CASE("without any device the error says how to install one") {
  CHECK_THROWS_WITH_AS(select_default({}), doctest::Contains("apt install pocl-opencl-icd"), Error);
  CHECK_THROWS_WITH_AS(select_device({}, "gpu", "CRISOL_DEVICE"), doctest::Contains("no OpenCL platform"), Error);
}

// --- In new processes: the loader and the variable themselves
// ---------------------------------------------------------

TEST_CASE("child: say which device is the default" * doctest::skip()) {
  try {
    MESSAGE("default is " << crisol::Device().name() << " because " << crisol::default_device_reason());
  } catch (const Error& error) {
    MESSAGE("refused: " << std::string(error.what()));
  }
}

namespace {

crisol::testing::ProcessResult ask_default(const crisol::testing::Environment& environment) {
  return crisol::testing::run_child("child: say which device is the default", environment);
}

}  // namespace

TEST_CASE("CRISOL_DEVICE chooses in a real process") {
  if (crisol::testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const crisol::Device here;
  crisol::testing::ProcessResult result = ask_default({{"CRISOL_DEVICE", here.info().platform}});
  CHECK(contains(result.output, ("default is " + here.name() + " because CRISOL_DEVICE=").c_str()));
  result = ask_default({{"CRISOL_DEVICE", "no-such-device"}});
  CHECK(contains(result.output, "CRISOL_DEVICE 'no-such-device': no device matches"));
}

TEST_CASE("child: a type names the default of two devices" * doctest::skip()) {
  const std::vector<crisol::Device> two = crisol::devices();
  REQUIRE(two.size() == 2);
  CHECK(crisol::Device("cpu") == two[0]);
  crisol::set_default_device(two[1]);
  CHECK(crisol::Device("cpu") == two[1]);
  CHECK(crisol::Device("CPU") == two[1]);
  CHECK(crisol::Device("cpu:0") == two[0]);
  CHECK_THROWS_AS(crisol::Device("gpu"), Error);
}

TEST_CASE("a type names the default device if that is of the type") {
  NEEDS_TWO_DEVICES();
  CHECK_PASSED(crisol::testing::run_child("child: a type names the default of two devices",
                                          {{"POCL_DEVICES", "pthread basic"}}));
}

TEST_CASE("an empty vendors folder is explained") {
  if (crisol::testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  NEEDS_POSIX("an OpenCL loader that reads .icd files");
  const crisol::testing::TemporaryFolder empty;
  const crisol::testing::ProcessResult result =
      ask_default({{"OCL_ICD_VENDORS", empty.path()}, {"OCL_ICD_FILENAMES", ""}, {"CRISOL_DEVICE", ""}});
  CHECK(contains(result.output, "no OpenCL platform is installed"));
}
