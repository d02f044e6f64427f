#include "ops/probe/shuffle.h"

#include "crisol/tensor.h"
#include "dispatch/probes.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "ops/probe/shuffle_probe.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using dispatch::Shuffle;

namespace {

// The probe is set here, next to add_shuffle_define, so that every program whose kernels shuffle contains the probe.
const bool is_set = [] {
  dispatch::probes().assembly_shuffles = [](runtime::DeviceState& device) {
    return found_shuffles(device).found == "nvidia";
  };
  return true;
}();

}  // namespace

dispatch::ProbeOutcome found_shuffles(runtime::DeviceState& device) {
  if (dispatch::traits_of(device).shuffle != Shuffle::assembly) return {"none", "the device is no GPU of NVIDIA"};
  return probe_outcome(device, "shuffle", "probe/shuffle_probe.cl", [&] {
    return probe_one("nvidia", [&] { return shuffles_rightly(device, {{"NVIDIA_SHUFFLES", 1}}); });
  });
}

bool shuffles_rightly(runtime::DeviceState& device, const runtime::Defines& defines) {
  constexpr std::int64_t items = 64, masks = 5;
  const Tensor partners = zeros({items, masks}, DType::i32, Device(device));
  runtime::launch(device, runtime::resolve(device, {"probe/shuffle_probe.cl", "shuffle_probe", defines}),
                  {{items}, {items}}, out(partners));
  const std::vector<std::int32_t> found = partners.to_vector<std::int32_t>();
  for (std::int32_t item = 0; item < items; ++item)
    for (std::int32_t bit = 0; bit < masks; ++bit)
      if (const std::int32_t partner = found[static_cast<std::size_t>(item * masks + bit)];
          partner != (item ^ (1 << bit)) && (partner != -1 || bit < 4))
        return false;
  return true;
}

void add_shuffle_define(runtime::Defines& defines, const dispatch::Target& target, std::int64_t items) {
  if (items % 16 == 0 && target.traits.shuffle == Shuffle::subgroups_of_16) defines.add({"INTEL_SUBGROUPS", 1});
  if (items % 32 == 0 && target.assembly_shuffles) defines.add({"NVIDIA_SHUFFLES", 1});
}

}  // namespace crisol::ops
