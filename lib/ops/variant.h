// The same op on different devices: an ordered list of variants, each of which may refuse a problem with a reason.
//
//     constexpr Variant<Problem> variants[] = {{"clblast", refuse_clblast, run_clblast}, {"plain", accept_all,
//     run_plain}}; choose("matmul", variants, problem, info).run(problem);
//
// The last entry accepts everything. CRISOL_VERBOSE=dispatch prints every refusal and the choice;
// CRISOL_VARIANT=conv2d:direct,matmul:-clblast forces one and forbids another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crisol/device.h"

namespace crisol::ops {

/// Why a workspace of this size is not allowed, or nullptr.
const char* refuse_workspace(std::uint64_t bytes);

template <class Problem>
struct Variant {
  const char* name;
  /// Why this variant cannot take the problem on such a device, or nullptr.
  const char* (*refuse)(const Problem&, const DeviceInfo&);
  void (*run)(const Problem&);
  /// Bytes that it takes beside operands and result, of a problem that it does not refuse; nullptr for none.
  std::uint64_t (*workspace)(const Problem&, const DeviceInfo&) = nullptr;

  /// refuse()'s reason, or that of the limit on workspaces (set_workspace_limit).
  const char* reason_against(const Problem& problem, const DeviceInfo& info) const;
};

template <class Problem>
const char* Variant<Problem>::reason_against(const Problem& problem, const DeviceInfo& info) const {
  const char* reason = refuse(problem, info);
  return reason != nullptr || workspace == nullptr ? reason : refuse_workspace(workspace(problem, info));
}

template <class Problem>
const char* accept_all(const Problem&, const DeviceInfo&) {
  return nullptr;
}

/// The variant that a ForcedVariant of this thread or CRISOL_VARIANT forces for an op, or an empty text.
std::string forced_variant(std::string_view op);
bool is_forbidden(std::string_view op, std::string_view variant);

void say_refused(const char* op, const char* variant, const char* reason);
void say_chosen(const char* op, const char* variant);
[[noreturn]] void fail_forced(const char* op, const std::string& variant, const std::string& reason);

/// The first variant that accepts; a forced one that refuses, or does not exist, throws invalid_argument.
template <class Problem>
const Variant<Problem>& choose(const char* op, std::span<const Variant<Problem>> variants, const Problem& problem,
                               const DeviceInfo& info) {
  if (const std::string forced = forced_variant(op); !forced.empty()) {
    std::string names;
    for (const Variant<Problem>& variant : variants) {
      names += std::string(names.empty() ? "" : ", ") + variant.name;
      if (forced != variant.name) continue;
      if (const char* reason = variant.reason_against(problem, info)) fail_forced(op, forced, reason);
      say_chosen(op, variant.name);
      return variant;
    }
    fail_forced(op, forced, "there is no such variant; there are: " + names);
  }
  for (const Variant<Problem>& variant : variants) {
    const char* reason =
        is_forbidden(op, variant.name) ? "forbidden by CRISOL_VARIANT" : variant.reason_against(problem, info);
    if (reason == nullptr) {
      say_chosen(op, variant.name);
      return variant;
    }
    say_refused(op, variant.name, reason);
  }
  fail_forced(op, "none", "CRISOL_VARIANT forbids every variant that accepts this problem");
}

template <class Problem, std::size_t n>
const Variant<Problem>& choose(const char* op, const Variant<Problem> (&variants)[n], const Problem& problem,
                               const DeviceInfo& info) {
  return choose(op, std::span<const Variant<Problem>>(variants), problem, info);
}

/// Forces a variant on this thread while it lives: for tests that run every variant and for measuring.
class ForcedVariant {
 public:
  ForcedVariant(std::string op, std::string variant);
  ~ForcedVariant();
  ForcedVariant(const ForcedVariant&) = delete;
  ForcedVariant& operator=(const ForcedVariant&) = delete;
};

}  // namespace crisol::ops
