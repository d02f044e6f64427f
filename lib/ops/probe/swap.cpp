#include "ops/probe/swap.h"

#include <algorithm>
#include <unordered_map>

#include "crisol/tensor.h"
#include "dispatch/gpu_model.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "ops/probe/swap_probe.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

bool has_intel_subgroups(const DeviceInfo& info) {
  const auto& sizes = info.subgroup_sizes;
  return info.has_extension("cl_intel_subgroups") && info.has_extension("cl_intel_required_subgroup_size") &&
         std::find(sizes.begin(), sizes.end(), 16) != sizes.end();
}

// Asked for each launch: a thread remembers the answers.
bool has_nvidia_shuffles(runtime::DeviceState& device) {
  thread_local std::unordered_map<const runtime::DeviceState*, bool> answers;
  const auto known = answers.find(&device);
  if (known != answers.end()) return known->second;
  return answers[&device] = found_shuffles(device).found == "nvidia";
}

}  // namespace

runtime::ProbeOutcome found_shuffles(runtime::DeviceState& device) {
  if (!is_gpu_of(vendor_nvidia, runtime::info_of(device))) return {"none", "the device is no GPU of NVIDIA"};
  return probe_outcome(device, "shuffle", "probe/swap_probe.cl", [&] {
    return probe_one("nvidia", [&] { return swaps_rightly(device, {{"NVIDIA_SHUFFLES", 1}}); });
  });
}

bool swaps_rightly(runtime::DeviceState& device, const runtime::Defines& defines) {
  constexpr std::int64_t items = 64, masks = 5;
  const Tensor partners = zeros({items, masks}, DType::i32, Device(device));
  runtime::launch(device, runtime::resolve(device, {"probe/swap_probe.cl", "swap_probe", defines}), {{items}, {items}},
                  out(partners));
  const std::vector<std::int32_t> found = partners.to_vector<std::int32_t>();
  for (std::int32_t item = 0; item < items; ++item)
    for (std::int32_t bit = 0; bit < masks; ++bit)
      if (const std::int32_t partner = found[static_cast<std::size_t>(item * masks + bit)];
          partner != (item ^ (1 << bit)) && (partner != -1 || bit < 4))
        return false;
  return true;
}

void add_swap_define(runtime::Defines& defines, const dispatch::Target& target, std::int64_t items) {
  if (items % 16 == 0 && has_intel_subgroups(target.info)) defines.add({"INTEL_SUBGROUPS", 1});
  if (items % 32 == 0 && target.nvidia_shuffles) defines.add({"NVIDIA_SHUFFLES", 1});
}

}  // namespace crisol::ops

bool crisol::dispatch::probe_nvidia_shuffles(runtime::DeviceState& device) { return ops::has_nvidia_shuffles(device); }
