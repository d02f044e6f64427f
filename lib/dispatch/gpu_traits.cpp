#include "dispatch/gpu_traits.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "crisol/tuning.h"

namespace crisol::dispatch {

namespace {

using Kind = MatrixUnit::Kind;
using Kinds = std::array<Kind, 2>;

enum Vendor : std::uint32_t { amd = 0x1002, nvidia = 0x10de, intel = 0x8086 };  // DeviceInfo::vendor_id.

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

bool has_subgroups_of(const DeviceInfo& info, std::uint64_t size) {
  return std::find(info.subgroup_sizes.begin(), info.subgroup_sizes.end(), size) != info.subgroup_sizes.end();
}

void set_registers(GpuTraits& traits, const DeviceInfo& info) {
  switch (info.vendor_id) {
    case nvidia:
      traits.max_registers = 255;
      traits.shared_registers = 65536;
      break;
    case amd: traits.max_registers = 256; break;
    case intel:
      traits.max_registers = 128;
      traits.waves_share_registers = true;
      break;
    default: break;
  }
  traits.limits_registers = info.has_extension("cl_nv_compiler_options");
}

Shuffle shuffle_of(const DeviceInfo& info) {
  if (has_subgroups_of(info, 16) && info.has_extension("cl_intel_subgroups") &&
      info.has_extension("cl_intel_required_subgroup_size"))
    return Shuffle::subgroups_of_16;
  return info.vendor_id == nvidia && info.type != DeviceType::cpu ? Shuffle::assembly : Shuffle::untold;
}

// NVIDIA's platform does not report a device's architecture. So all kinds are tried. A kernel for a newer architecture
// does not build, which does no harm.
Kinds nvidia_units(Precision precision) {
  return {Kind::mma_sm80, precision == Precision::fp16 ? Kind::mma_sm75 : Kind::none};
}

// AMD's platform names devices by their architecture. Its compiler ends the process on some instructions that the
// architecture lacks. So a kind is tried only if the architecture has it.
Kinds amd_units(std::string_view name, Precision precision) {
  const bool tf32 = precision == Precision::tf32;
  const bool has_tf32 = begins_with_any(name, {"gfx940", "gfx941", "gfx942"});
  const bool has_bf16 = has_tf32 || begins_with_any(name, {"gfx90a", "gfx950"});
  if (begins_with_any(name, {"gfx908"}) || has_bf16) {
    const bool has_mfma = precision == Precision::fp16 || (tf32 ? has_tf32 : has_bf16);
    return {has_mfma ? Kind::mfma : Kind::none};
  }
  if (tf32) return {};
  if (begins_with_any(name, {"gfx11"})) return {Kind::wmma};
  return {begins_with_any(name, {"gfx12"}) ? Kind::wmma_gfx12 : Kind::none};
}

Kinds intel_units(const DeviceInfo& info, Precision precision) {
  const bool tf32 = precision == Precision::tf32;
  if (tf32 && !info.has_extension("cl_intel_subgroup_matrix_multiply_accumulate_tf32")) return {};
  if (has_subgroups_of(info, 8)) return {tf32 ? Kind::none : Kind::xmx8};
  return {has_subgroups_of(info, 16) ? Kind::xmx16 : Kind::none};
}

Kinds units_of(const DeviceInfo& info, Precision precision) {
  if (info.platform == "NVIDIA CUDA") return nvidia_units(precision);
  if (info.platform == "AMD Accelerated Parallel Processing") return amd_units(info.name, precision);
  if (info.has_extension("cl_intel_subgroup_matrix_multiply_accumulate")) return intel_units(info, precision);
  return {};
}

// NVIDIA: 16 for data centers, 4 on professional boards and all of Turing, 2 on later GeForce. AMD Instinct and Intel:
// 4 to 8. RDNA 3: 2, RDNA 4: 4.
double speed_of(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::none: return 1;
    case Kind::mma_sm80:
      if (contains_any(name, {"GeForce"})) return 2;
      return contains_any(name, {"A100", "A800", "H100", "H800", "H20", "B100", "B200"}) ? 16 : 4;
    case Kind::mma_sm75:
      return contains_any(name, {"GTX"}) ? 2 : 4;  // GTX devices do not have the unit, but they run the instruction.
    case Kind::wmma: return 2;
    case Kind::mfma:
    case Kind::wmma_gfx12:
    case Kind::xmx8:
    case Kind::xmx16: break;
  }
  return 4;
}

// CPUs with vectors of 8 or 16 floats (by PoCL and by Intel's runtime), and the H100. An H200 has the same chip.
bool was_measured(const DeviceInfo& info) {
  if (info.type == DeviceType::cpu)
    return info.native_float_width >= 8 &&
           contains_any(info.platform, {"Portable Computing Language", "Intel(R) OpenCL"});
  return info.platform == "NVIDIA CUDA" && contains_any(info.name, {"H100", "H200"});
}

}  // namespace

GpuTraits gpu_traits(const DeviceInfo& info) {
  const bool is_cpu = info.type == DeviceType::cpu;
  GpuTraits traits;
  traits.simulated = info.platform == "Oclgrind";
  traits.measured = traits.simulated || was_measured(info);
  traits.multiprocessors =
      std::max(1.0, info.vendor_id == intel && !is_cpu ? info.compute_units / 8.0 : info.compute_units);
  if (is_cpu || traits.simulated)
    traits.max_registers = 256;
  else
    set_registers(traits, info);
  traits.branches_are_cheap = info.vendor_id != amd && info.vendor_id != intel;
  traits.shuffle = shuffle_of(info);
  if (begins_with_any(info.name, {"llvmpipe"})) traits.loop_budget = 32000;
  if (!is_cpu)
    for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16})
      traits.matrix_units[static_cast<std::size_t>(precision)] = units_of(info, precision);
  for (std::size_t kind = 0; kind < traits.matrix_speed.size(); ++kind)
    traits.matrix_speed[kind] = speed_of(static_cast<Kind>(kind), info.name);
  return traits;
}

// Registers are allocated for four waves of 32 items at a time, and in multiples of eight for each item.
std::int64_t GpuTraits::registers_of_item(std::int64_t items) const noexcept {
  if (shared_registers == 0) return max_registers;
  return std::min(max_registers, shared_registers / ((items + 127) / 128 * 128) / 8 * 8);
}

std::vector<Kind> GpuTraits::matrix_candidates(Precision precision) const {
  const Kinds& kinds = matrix_units[static_cast<std::size_t>(precision)];
  return {kinds.begin(), std::find(kinds.begin(), kinds.end(), Kind::none)};
}

// tf32 is half as fast as fp16. Operands must also be read and rounded, so the gain is at most 8 for fp16 and 6 for
// tf32, as the compiled loops show.
double GpuTraits::matrix_gain(const MatrixUnit& unit, Precision precision) const noexcept {
  if (unit.kind == Kind::none || unit.emulated || precision == Precision::fp32) return 1;
  const double speed = matrix_speed[static_cast<std::size_t>(unit.kind)];
  return precision == Precision::tf32 ? std::min(speed / 2, 6.0) : std::min(speed, 8.0);
}

}  // namespace crisol::dispatch

bool crisol::is_measured_device(const DeviceInfo& info) { return dispatch::gpu_traits(info).measured; }
