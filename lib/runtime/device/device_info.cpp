// DeviceInfo as a value: names, the test for extensions, JSON.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/text.h"
#include "crisol/device.h"

namespace crisol {

namespace {

using nlohmann::ordered_json;

// One list of members for reading and for writing: calls visit(key, member) for each member.
template <class Info, class Visit>
void for_each_member(Info& info, Visit&& visit) {
  visit("name", info.name);
  visit("vendor", info.vendor);
  visit("platform", info.platform);
  visit("platform_vendor", info.platform_vendor);
  visit("driver_version", info.driver_version);
  visit("device_version", info.device_version);
  visit("opencl_c_version", info.opencl_c_version);
  visit("extensions", info.extensions);
  visit("vendor_id", info.vendor_id);
  visit("compute_units", info.compute_units);
  visit("clock_mhz", info.clock_mhz);
  visit("native_float_width", info.native_float_width);
  visit("global_memory", info.global_memory);
  visit("max_allocation", info.max_allocation);
  visit("local_memory", info.local_memory);
  visit("max_work_group", info.max_work_group);
  visit("max_work_item_sizes", info.max_work_item_sizes);
  visit("subgroup_sizes", info.subgroup_sizes);
  visit("dedicated_local_memory", info.dedicated_local_memory);
  visit("unified_memory", info.unified_memory);
  visit("fp16", info.fp16);
  visit("fp64", info.fp64);
  visit("fast_fma", info.fast_fma);
  visit("has_compiler", info.has_compiler);
}

DeviceType parse_type(const std::string& word) {
  for (const DeviceType type : {DeviceType::gpu, DeviceType::accelerator, DeviceType::cpu})
    if (word == name_of(type)) return type;
  throw std::invalid_argument("type must be gpu, accelerator or cpu, not '" + word + "'");
}

}  // namespace

const char* name_of(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::gpu: return "gpu";
    case DeviceType::accelerator: return "accelerator";
    case DeviceType::cpu: return "cpu";
  }
  return "unknown";
}

bool DeviceInfo::has_extension(std::string_view extension) const noexcept {
  const std::string_view all = extensions;
  for (std::size_t at = all.find(extension); at != std::string_view::npos; at = all.find(extension, at + 1)) {
    const std::size_t end = at + extension.size();
    if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' ')) return true;
  }
  return false;
}

DeviceInfo read_device_info(const std::string& path) {
  std::ifstream file(system::path_of(path), std::ios::binary);
  if (!file) fail(ErrorCode::io, "read_device_info", "cannot open ", path);
  DeviceInfo info;
  try {
    ordered_json json = ordered_json::parse(file);
    if (json.contains("type")) info.type = parse_type(json["type"].get<std::string>());
    json.erase("type");
    json.erase("offline");  // Only tools that compile for the device without having it read this key.
    for_each_member(info, [&](const char* key, auto& member) {
      if (!json.contains(key)) return;
      json[key].get_to(member);
      json.erase(key);
    });
    if (!json.empty()) throw std::invalid_argument("unknown key '" + json.begin().key() + "'");
  } catch (const std::exception& error) {
    fail(ErrorCode::io, "read_device_info", path, ": ", error.what());
  }
  return info;
}

std::string to_json(const DeviceInfo& info) {
  ordered_json json;
  for_each_member(info, [&](const char* key, const auto& member) { json[key] = member; });
  json["type"] = name_of(info.type);
  return json.dump(2);
}

}  // namespace crisol
