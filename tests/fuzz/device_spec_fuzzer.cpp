// Values of CRISOL_DEVICE against fixed devices. The result is a device that the value names, or a refusal that quotes
// the value and lists the devices.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "expect.h"
#include "runtime/device/device_select.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

DeviceInfo make(const char* name, const char* vendor, const char* platform, const char* platform_vendor,
                DeviceType type, std::uint64_t memory, bool has_compiler) {
  DeviceInfo info;
  info.name = name;
  info.vendor = vendor;
  info.platform = platform;
  info.platform_vendor = platform_vendor;
  info.type = type;
  info.global_memory = memory;
  info.has_compiler = has_compiler;
  return info;
}

const std::vector<DeviceInfo>& machine() {
  static const std::vector<DeviceInfo> devices{
      make("NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA", "NVIDIA Corporation", DeviceType::gpu, 140, true),
      make("NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA", "NVIDIA Corporation", DeviceType::gpu, 140, true),
      make("gfx1100", "Advanced Micro Devices, Inc.", "AMD Accelerated Parallel Processing",
           "Advanced Micro Devices, Inc.", DeviceType::gpu, 24, true),
      make("board 0:1", "Maker", "Boards", "Maker", DeviceType::accelerator, 8, false),
      make("pthread-znver4", "AuthenticAMD", "Portable Computing Language", "The pocl project", DeviceType::cpu, 64,
           true)};
  return devices;
}

std::vector<runtime::Candidate> candidates() {
  const std::vector<DeviceInfo>& all = machine();
  return {{&all[0], 0, 0}, {&all[1], 0, 1}, {&all[2], 1, 0}, {&all[3], 3, 0}, {&all[4], 4, 0}};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return result;
}

bool named_by(const runtime::Candidate& device, const std::string& what) {
  const DeviceInfo& info = *device.info;
  const char* type = info.type == DeviceType::gpu ? "gpu" : info.type == DeviceType::cpu ? "cpu" : "accelerator";
  if (what == type) return true;
  for (const std::string& text : {info.name, info.vendor, info.platform, info.platform_vendor})
    if (lower(text).find(what) != std::string::npos) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view all_bytes(reinterpret_cast<const char*>(bytes), count);
  const std::string_view spec = all_bytes.substr(0, all_bytes.find('\0'));  // No variable can contain a zero byte.
  const std::vector<runtime::Candidate> all = candidates();
  std::size_t chosen = all.size();
  try {
    chosen = runtime::select_device(all, spec, "CRISOL_DEVICE");
  } catch (const Error& error) {
    const std::string text = error.what();
    expect(error.code() == ErrorCode::device_not_found, "a refusal has the code of its kind");
    expect(text.find(concat("CRISOL_DEVICE '", spec, '\'')) != std::string::npos, "a refusal quotes the value");
    for (const DeviceInfo& info : machine())
      expect(text.find(info.name) != std::string::npos, "a refusal lists all devices");
    return 0;
  }
  expect(chosen < all.size() && all[chosen].info->has_compiler, "the device chosen is one that can be used");
  const std::string text = lower(spec);
  const std::string what = text.substr(0, text.rfind(':'));
  const bool by_index = text.size() >= 3 && text.find_first_not_of("0123456789:") == std::string::npos;
  expect(by_index || named_by(all[chosen], text) || named_by(all[chosen], what), "the value names the device chosen");
  return 0;
}
