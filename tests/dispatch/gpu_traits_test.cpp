// The traits that follow from the facts of a device: for each file of devices/, for the implementations for CPUs, and
// for matrix units by the names of architectures.
#include "dispatch/gpu_traits.h"

#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "crisol/tuning.h"
#include "dispatch/target.h"
#include "doctest/doctest.h"

using namespace crisol;
using dispatch::gpu_traits, dispatch::GpuTraits, dispatch::Shuffle;
using Kind = dispatch::MatrixUnit::Kind;
using Kinds = std::vector<Kind>;

namespace {

struct Expected {
  const char* file;
  double multiprocessors;
  std::int64_t registers_of_256, registers_of_1024;  // Registers of a work-item in groups of 256 and of 1024.
  bool shares_registers, waves_share_registers, branches_are_cheap;
  Shuffle shuffle;
  Kinds tf32, fp16;
  double gain_tf32, gain_fp16;  // The gain of the best unit.
};

const Shuffle untold = Shuffle::untold, by_16 = Shuffle::subgroups_of_16, assembly = Shuffle::assembly;
const Kinds none{}, mma{Kind::mma_sm80}, mma_both{Kind::mma_sm80, Kind::mma_sm75}, mfma{Kind::mfma};

const Expected rows[] = {
    {"amd-mi250", 104, 256, 256, false, false, false, untold, none, mfma, 1, 4},
    {"amd-mi300x", 304, 256, 256, false, false, false, untold, mfma, mfma, 2, 4},
    {"amd-rx-6800", 30, 256, 256, false, false, false, untold, none, none, 1, 1},
    {"amd-rx-7900-xtx", 48, 256, 256, false, false, false, untold, none, {Kind::wmma}, 1, 2},
    {"cpu-intel-avx512", 16, 256, 256, false, false, false, by_16, none, none, 1, 1},
    {"cpu-pocl-avx2", 16, 256, 256, false, false, false, untold, none, none, 1, 1},
    {"cpu-pocl-avx512", 16, 256, 256, false, false, false, untold, none, none, 1, 1},
    {"intel-arc-a770", 64, 128, 128, false, true, false, by_16, none, {Kind::xmx8}, 1, 4},
    {"intel-iris-xe", 12, 128, 128, false, true, false, by_16, none, none, 1, 1},
    {"intel-uhd-620", 3, 128, 128, false, true, false, by_16, none, none, 1, 1},
    {"nvidia-a100", 108, 255, 64, true, false, true, assembly, mma, mma_both, 6, 8},
    {"nvidia-gtx-1660", 22, 255, 64, true, false, true, assembly, mma, mma_both, 1, 2},
    {"nvidia-h100", 132, 255, 64, true, false, true, assembly, mma, mma_both, 6, 8},
    {"nvidia-h200", 132, 255, 64, true, false, true, assembly, mma, mma_both, 6, 8},
    {"nvidia-rtx-3090", 82, 255, 64, true, false, true, assembly, mma, mma_both, 1, 2},
    {"nvidia-rtx-4090", 128, 255, 64, true, false, true, assembly, mma, mma_both, 1, 2},
};

double best_gain(const GpuTraits& traits, Precision precision) {
  const Kinds kinds = traits.matrix_candidates(precision);
  return traits.matrix_gain({kinds.empty() ? Kind::none : kinds.front()}, precision);
}

DeviceInfo gpu(const char* platform, const char* name) {
  DeviceInfo info;
  info.type = DeviceType::gpu;
  info.platform = platform;
  info.name = name;
  return info;
}

}  // namespace

TEST_CASE("gpu traits: of each device file") {
  const std::filesystem::path folder = CRISOL_SOURCE_DIR "/devices";
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path().stem().string());
  for (const Expected& device : rows) {
    CAPTURE(std::string(device.file));
    CHECK(files.erase(device.file) == 1);
    const GpuTraits traits = gpu_traits(read_device_info((folder / device.file).string() + ".json"));
    CHECK(!traits.simulated);
    CHECK(traits.multiprocessors == device.multiprocessors);
    CHECK(traits.registers_of_item(256) == device.registers_of_256);
    CHECK(traits.registers_of_item(1024) == device.registers_of_1024);
    CHECK((traits.shared_registers != 0) == device.shares_registers);
    CHECK(traits.waves_share_registers == device.waves_share_registers);
    CHECK(traits.branches_are_cheap == device.branches_are_cheap);
    CHECK(traits.shuffle == device.shuffle);
    CHECK(traits.loop_budget == std::numeric_limits<std::int64_t>::max());
    CHECK(traits.matrix_candidates(Precision::tf32) == device.tf32);
    CHECK(traits.matrix_candidates(Precision::fp16) == device.fp16);
    CHECK(traits.matrix_candidates(Precision::fp32).empty());
    CHECK(best_gain(traits, Precision::tf32) == device.gain_tf32);
    CHECK(best_gain(traits, Precision::fp16) == device.gain_fp16);
    CHECK(traits.matrix_gain({Kind::mma_sm80}, Precision::fp32) == 1);
  }
  for (const std::string& file : files) FAIL_CHECK(file << " has no row here");
}

TEST_CASE("gpu traits: simulators, loops that end early, unknown vendors") {
  DeviceInfo oclgrind = gpu("Oclgrind", "Oclgrind Simulator");
  CHECK(gpu_traits(oclgrind).simulated);
  CHECK(gpu_traits(oclgrind).registers_of_item(256) == 256);
  CHECK(dispatch::Target{oclgrind}.takes_cpu_kernels());
  CHECK(gpu_traits(gpu("rusticl", "llvmpipe (LLVM 19.1.7, 256 bits)")).loop_budget == 32000);
  const DeviceInfo unknown = gpu("Platform", "Device");
  CHECK(gpu_traits(unknown).registers_of_item(256) == 64);
  CHECK(gpu_traits(unknown).branches_are_cheap);
  CHECK(gpu_traits(unknown).shuffle == untold);
  CHECK(!dispatch::Target{unknown}.takes_cpu_kernels());
}

TEST_CASE("gpu traits: a work-item's share of a multiprocessor's registers") {
  DeviceInfo info = gpu("NVIDIA CUDA", "NVIDIA A100");
  info.vendor_id = 0x10de;
  const GpuTraits traits = gpu_traits(info);
  CHECK(traits.registers_of_item(1) == 255);
  CHECK(traits.registers_of_item(257) == 168);  // The same number as in a group of 384.
  CHECK(traits.registers_of_item(384) == 168);
  CHECK(traits.registers_of_item(512) == 128);
}

TEST_CASE("gpu traits: how much faster matrix units are, by the name of the device") {
  const auto gain = [](const char* name, Kind kind, Precision precision) {
    return gpu_traits(gpu("NVIDIA CUDA", name)).matrix_gain({kind}, precision);
  };
  CHECK(gain("NVIDIA RTX A6000", Kind::mma_sm80, Precision::fp16) == 4);
  CHECK(gain("NVIDIA RTX A6000", Kind::mma_sm80, Precision::tf32) == 2);
  CHECK(gain("NVIDIA GeForce RTX 2080", Kind::mma_sm75, Precision::fp16) == 4);
  CHECK(gain("NVIDIA GeForce GTX 1660", Kind::mma_sm75, Precision::fp16) == 2);
  CHECK(gain("NVIDIA H200", Kind::none, Precision::fp16) == 1);
}

TEST_CASE("gpu traits: which matrix units a device may have") {
  const auto of = [](const DeviceInfo& info, Precision precision) {
    return gpu_traits(info).matrix_candidates(precision);
  };
  const DeviceInfo a100 = gpu("NVIDIA CUDA", "NVIDIA A100");
  CHECK(of(a100, Precision::fp32).empty());
  CHECK(of(a100, Precision::tf32) == Kinds{Kind::mma_sm80});
  CHECK(of(a100, Precision::fp16) == Kinds{Kind::mma_sm80, Kind::mma_sm75});
  const char* const amd = "AMD Accelerated Parallel Processing";
  CHECK(of(gpu(amd, "gfx90a:sramecc+:xnack-"), Precision::bf16) == Kinds{Kind::mfma});
  CHECK(of(gpu(amd, "gfx90a:sramecc+:xnack-"), Precision::tf32).empty());
  CHECK(of(gpu(amd, "gfx908"), Precision::fp16) == Kinds{Kind::mfma});
  CHECK(of(gpu(amd, "gfx908"), Precision::bf16).empty());
  CHECK(of(gpu(amd, "gfx942"), Precision::tf32) == Kinds{Kind::mfma});
  CHECK(of(gpu(amd, "gfx1100"), Precision::fp16) == Kinds{Kind::wmma});
  CHECK(of(gpu(amd, "gfx1100"), Precision::tf32).empty());
  CHECK(of(gpu(amd, "gfx1201"), Precision::bf16) == Kinds{Kind::wmma_gfx12});
  CHECK(of(gpu(amd, "gfx1030"), Precision::fp16).empty());
  DeviceInfo arc = gpu("Intel(R) OpenCL Graphics", "Arc");
  CHECK(of(arc, Precision::fp16).empty());
  arc.extensions = "cl_khr_fp16 cl_intel_subgroup_matrix_multiply_accumulate";
  arc.subgroup_sizes = {8, 16, 32};
  CHECK(of(arc, Precision::fp16) == Kinds{Kind::xmx8});
  CHECK(of(arc, Precision::tf32).empty());
  arc.extensions += " cl_intel_subgroup_matrix_multiply_accumulate_tf32";
  arc.subgroup_sizes = {16, 32};
  CHECK(of(arc, Precision::tf32) == Kinds{Kind::xmx16});
  DeviceInfo cpu = a100;
  cpu.type = DeviceType::cpu;
  CHECK(of(cpu, Precision::fp16).empty());
}

TEST_CASE("gpu traits: the devices on which the rules were measured, and simulators") {
  for (const Expected& row : rows) {
    const std::string file = row.file;
    CAPTURE(file);
    const bool measured = file.find("cpu-") == 0 || file == "nvidia-h100" || file == "nvidia-h200";
    CHECK(is_measured_device(read_device_info(CRISOL_SOURCE_DIR "/devices/" + file + ".json")) == measured);
  }
  DeviceInfo phone = read_device_info(CRISOL_SOURCE_DIR "/devices/cpu-pocl-avx2.json");
  phone.native_float_width = 4;
  CHECK_FALSE(is_measured_device(phone));
  CHECK(is_measured_device(gpu("Oclgrind", "Oclgrind Simulator")));
}
