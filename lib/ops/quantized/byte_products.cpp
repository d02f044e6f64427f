#include "ops/quantized/byte_products.h"

#include "crisol/tensor.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

bool multiplies_bytes(runtime::DeviceState& device, bool with_gfni) {
  constexpr std::uint32_t lanes = 16;
  const Tensor y = zeros({4 * lanes}, DType::i32, Device(device));
  runtime::KernelSpec spec{"quantized/bytes_probe.cl", "bytes_probe"};
  if (with_gfni) spec.defines.add({"GFNI", 1});
  runtime::launch(device, spec, {{1}, {1}}, out(y));
  const auto numbers = y.to_vector<std::int32_t>();
  for (std::uint32_t i = 0; i < lanes; ++i) {
    std::uint32_t expected = (4 * i + 6) * (i - 100);
    if (with_gfni) {
      expected = (expected << 8) + i;
      for (std::uint32_t byte = 0; byte < 4; ++byte) expected += (i + 3 - byte) / 16 << (8 * byte);
    }
    if (static_cast<std::uint32_t>(numbers[i]) != expected) return false;
  }
  return true;
}

}  // namespace

dispatch::ProbeOutcome found_byte_products(runtime::DeviceState& device) {
  if (runtime::info_of(device).type != DeviceType::cpu || dispatch::traits_of(device).simulated)
    return {"none", "the device is no CPU"};
  return probe_outcome(device, "bytes", "quantized/bytes_probe.cl", [&] {
    Probed probed = probe_one("vpdpbusd_gfni", [&] { return multiplies_bytes(device, true); });
    if (probed.outcome.found == "none") probed = probe_one("vpdpbusd", [&] { return multiplies_bytes(device, false); });
    // A virtual machine with another processor may show a device of the same name.
    probed.lasting = probed.lasting && probed.outcome.found == "none";
    return probed;
  });
}

}  // namespace crisol::ops
