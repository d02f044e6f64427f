// The instructions that multiply pairs, and the probe that finds the device's fastest one.
#include <algorithm>
#include <span>

#include "base/byte_dtype.h"
#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "dispatch/device_defines.h"
#include "dispatch/target.h"
#include "ops/probe/device_probe.h"
#include "ops/product/pairs.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

/// An instruction that multiplies pairs. A tile of sums has so many rows and columns, and a vector so many lanes.
struct Instruction {
  const char *name, *define;
  std::int64_t rows, columns;
  int lanes;
};

// The fastest first.
constexpr Instruction instructions[]{
    {"tdpbssd", "TDPBSSD", 32, 32, 16}, {"vpdpwssd", "VPDPWSSD", 6, 32, 16}, {"pmaddwd", "PMADDWD", 6, 16, 8}};
constexpr Instruction without_instruction{"none", nullptr, 6, 16, 8};

const Instruction& instruction_of(runtime::DeviceState& device) {
  const dispatch::ProbeOutcome outcome = found_pairs(device);
  const auto* const found = std::find_if(std::begin(instructions), std::end(instructions),
                                         [&](const Instruction& one) { return outcome.found == one.name; });
  return found == std::end(instructions) ? without_instruction : *found;
}

/// Whether the kernels give the right numbers with the instruction.
bool multiplies_pairs(runtime::DeviceState& device, const Instruction& instruction) {
  constexpr int operands = 320;  // Behind the result.
  const Tensor y = zeros({instruction.lanes + operands}, DType::i32, Device(device));
  runtime::launch(device, {"product/pairs/pairs_probe.cl", "pairs_probe", {{instruction.define, 1}}}, {{1}, {1}},
                  out(y));
  const auto numbers = y.to_vector<std::int32_t>();
  for (int i = 0; i < instruction.lanes; ++i)
    if (numbers[static_cast<std::size_t>(i)] != 1 - 127 * i - i * i) return false;
  return true;
}

}  // namespace

dispatch::ProbeOutcome found_pairs(runtime::DeviceState& device) {
  if (runtime::info_of(device).type != DeviceType::cpu || dispatch::traits_of(device).simulated)
    return {"none", "the device is no CPU"};
  return probe_outcome(device, "pairs", "product/pairs/pairs_probe.cl", [&] {
  // The probe of the matrix unit makes a call of Linux.
#ifdef __linux__
    constexpr std::size_t first = 0;
#else
    constexpr std::size_t first = 1;
#endif
    Probed best;
    for (const Instruction& one : std::span(instructions).subspan(first)) {
      best = probe_one(one.name, [&] { return multiplies_pairs(device, one); });
      if (best.outcome.found != "none") break;
    }
    // Each process needs the permission for tiles, and a virtual machine with another processor may show a device of
    // the same name. The compiler's builtin says that the device has its instruction.
    best.lasting = best.lasting && (best.outcome.found == "pmaddwd" || best.outcome.found == "none");
    return best;
  });
}

namespace {

bool has_matrix_unit(runtime::DeviceState& device) { return &instruction_of(device) == instructions; }

}  // namespace

bool takes_centred(Device device) { return prefers_pairs(device) && !has_matrix_unit(device.state()); }

WordLayout word_layout(runtime::DeviceState& device, std::int64_t depth, std::int64_t runs) {
  const bool has_unit = has_matrix_unit(device);
  const std::int64_t groups = ceil_div(depth, has_unit ? 4 : 2), count = groups * runs;
  if (!has_unit) return {groups, count, count, count};
  const std::int64_t words = ceil_div(count, 16) * 16;
  return {groups, words, words + 16, words + 2};
}

bool prefers_pairs(Device device) { return found_pairs(device.state()).found != "none"; }

std::int64_t pair_rows(runtime::DeviceState& device) { return instruction_of(device).rows; }
std::int64_t pair_columns(runtime::DeviceState& device) { return instruction_of(device).columns; }

runtime::Defines number_defines(runtime::DeviceState& device) {
  runtime::Defines defines;
  if (has_matrix_unit(device)) defines.add({instructions[0].define, 1});
  dispatch::define_math(defines, runtime::info_of(device));
  return defines;
}

runtime::Defines pair_defines(runtime::DeviceState& device, DType result, const ProductEpilogue* epilogue) {
  const Instruction& instruction = instruction_of(device);
  runtime::Defines defines{{"VW", instruction.lanes}, {"RESULT", number_type(result)}};
  if (instruction.define != nullptr) defines.add({instruction.define, 1});
  dispatch::define_math(defines, runtime::info_of(device));
  const auto add_type = [&](std::size_t i, const char* name) {
    if (i >= static_cast<std::size_t>(layout_of(epilogue).operand_count)) return;
    if (const DType dtype = epilogue->operands[i].dtype(); is_of_bytes(dtype)) defines.add({name, number_type(dtype)});
  };
  add_type(0, "OPERAND0");
  add_type(1, "OPERAND1");
  return defines;
}

}  // namespace crisol::ops
