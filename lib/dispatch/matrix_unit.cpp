#include "dispatch/matrix_unit.h"

#include <algorithm>

namespace crisol::ops {

namespace {

using Kind = MatrixUnit::Kind;

constexpr MatrixUnitFacts kinds[] = {
    {Kind::none, "none", 1, 1},  {Kind::mma_sm80, "mma_sm80", 32, 2}, {Kind::mma_sm75, "mma_sm75", 32, 2},
    {Kind::mfma, "mfma", 64, 4}, {Kind::wmma, "wmma", 32, 1},         {Kind::wmma_gfx12, "wmma_gfx12", 32, 4},
    {Kind::xmx8, "xmx8", 8, 1},  {Kind::xmx16, "xmx16", 16, 1},
};

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

// NVIDIA's platform does not tell a device's architecture. A kernel for a newer architecture does not build, so trying
// it does no harm.
std::vector<Kind> nvidia_candidates(Precision precision) {
  if (precision == Precision::fp16) return {Kind::mma_sm80, Kind::mma_sm75};
  return {Kind::mma_sm80};
}

// AMD's platform names devices by their architecture. Its compiler ends the process on some instructions that the
// architecture lacks. So only kinds that the architecture has are tried.
std::vector<Kind> amd_candidates(std::string_view name, Precision precision) {
  const bool has_xf32 = begins_with_any(name, {"gfx940", "gfx941", "gfx942"});
  const bool has_bf16 = has_xf32 || begins_with_any(name, {"gfx90a", "gfx950"});
  if (begins_with_any(name, {"gfx908"}) || has_bf16)
    return precision == Precision::fp16 || (precision == Precision::bf16 && has_bf16) ||
                   (precision == Precision::tf32 && has_xf32)
               ? std::vector{Kind::mfma}
               : std::vector<Kind>{};
  if (precision == Precision::tf32) return {};
  if (begins_with_any(name, {"gfx11"})) return {Kind::wmma};
  if (begins_with_any(name, {"gfx12"})) return {Kind::wmma_gfx12};
  return {};
}

std::vector<Kind> intel_candidates(const DeviceInfo& info, Precision precision) {
  const auto has_size = [&](std::uint64_t size) {
    return std::find(info.subgroup_sizes.begin(), info.subgroup_sizes.end(), size) != info.subgroup_sizes.end();
  };
  const bool tf32 = precision == Precision::tf32;
  if (tf32 && !info.has_extension("cl_intel_subgroup_matrix_multiply_accumulate_tf32")) return {};
  if (has_size(8)) return tf32 ? std::vector<Kind>{} : std::vector{Kind::xmx8};
  return has_size(16) ? std::vector{Kind::xmx16} : std::vector<Kind>{};
}

}  // namespace

const MatrixUnitFacts& facts_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

Kind matrix_unit_named(std::string_view name) noexcept {
  for (const MatrixUnitFacts& facts : kinds)
    if (name == facts.name) return facts.kind;
  return Kind::none;
}

std::vector<Kind> matrix_candidates(const DeviceInfo& info, Precision precision) {
  if (precision == Precision::fp32 || info.type == DeviceType::cpu) return {};
  if (info.platform == "NVIDIA CUDA") return nvidia_candidates(precision);
  if (info.platform == "AMD Accelerated Parallel Processing") return amd_candidates(info.name, precision);
  if (info.has_extension("cl_intel_subgroup_matrix_multiply_accumulate")) return intel_candidates(info, precision);
  return {};
}

// The values are from vendors' publications (no device was measured), with fp16 summed in fp32, as multiples of fp32's
// speed. NVIDIA: 16 for data centers, 4 on professional boards and all of Turing, 2 on later GeForce. Instinct and
// Intel: 4 to 8. RDNA 3: 2, RDNA 4: 4. tf32 is half as fast. Reading and rounding operands leaves at most 8 for fp16
// and 6 for tf32, as the compiled loops show.
double matrix_gain(const DeviceInfo& info, const MatrixUnit& unit, Precision precision) {
  const auto says = [&](const char* text) { return info.name.find(text) != std::string::npos; };
  if (precision == Precision::fp32) return 1;
  const bool tf32 = precision == Precision::tf32;
  switch (unit.kind) {
    case Kind::none: return 1;
    case Kind::mma_sm80:
      if (says("GeForce")) return tf32 ? 1 : 2;
      for (const char* name : {"A100", "A800", "H100", "H800", "H20", "B100", "B200"})
        if (says(name)) return tf32 ? 6 : 8;
      return tf32 ? 2 : 4;
    case Kind::wmma: return 2;
    case Kind::mma_sm75:
      return says("GTX") ? 2 : 4;  // GTX devices have no tensor cores, but they run the instruction nevertheless.
    case Kind::mfma:
    case Kind::wmma_gfx12:
    case Kind::xmx8:
    case Kind::xmx16: return tf32 ? 2 : 4;
  }
  return 1;
}

}  // namespace crisol::ops
