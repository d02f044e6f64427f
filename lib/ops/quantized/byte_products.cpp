#include "ops/quantized/byte_products.h"

#include "crisol/tensor.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

bool multiplies_bytes(runtime::DeviceState& device) {
  constexpr int lanes = 16;
  const Tensor y = zeros({3 * lanes}, DType::i32, Device(device));
  runtime::launch(device, {"quantized/bytes_probe.cl", "bytes_probe", {}}, {{1}, {1}}, out(y));
  const auto numbers = y.to_vector<std::int32_t>();
  for (int i = 0; i < lanes; ++i)
    if (numbers[static_cast<std::size_t>(i)] != (4 * i + 6) * (i - 100)) return false;
  return true;
}

}  // namespace

dispatch::ProbeOutcome found_byte_products(runtime::DeviceState& device) {
  if (runtime::info_of(device).type != DeviceType::cpu || dispatch::traits_of(device).simulated)
    return {"none", "the device is no CPU"};
  return probe_outcome(device, "bytes", "quantized/bytes_probe.cl", [&] {
    Probed probed = probe_one("vpdpbusd", [&] { return multiplies_bytes(device); });
    // A virtual machine with another processor may show a device of the same name.
    probed.lasting = probed.lasting && probed.outcome.found == "none";
    return probed;
  });
}

}  // namespace crisol::ops
