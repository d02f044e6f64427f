// The same op on different devices: an ordered list of variants, each of which may refuse a problem with a reason.
//
//     constexpr Variant<Problem> variants[] = {{"clblast", refuse_clblast, run_clblast}, {"plain", accept_all,
//     run_plain}}; choose("matmul", variants, problem, info).run(problem);
//
// The last entry accepts everything. CRISOL_VERBOSE=dispatch prints every refusal and the choice;
// CRISOL_VARIANT=conv2d:direct,matmul:-clblast forces one and forbids another. Without a forced one, that which
// `crisol tune` stored for the problem comes before the order of the list, where it accepts. On a driver that nobody
// has tried, a variant that computes wrong numbers is passed over (see dispatch/verification.h). Problems that have a
// ProblemKey key() can be tuned, and are written where CRISOL_RECORD_SHAPES says.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crisol/device.h"
#include "crisol/tuning.h"
#include "dispatch/problem_key.h"
#include "dispatch/problem_record.h"
#include "dispatch/verification.h"

namespace crisol::ops {

/// Why a workspace of this size is not allowed, or nullptr.
const char* refuse_workspace(std::uint64_t bytes);

/// Tiles, or the like, of which a variant has a choice for any problem; named "variant/setting". All give the same
/// within rounding, and the variant by itself picks one.
template <class Problem>
struct Settings {
  std::span<const std::string> (*names)();
  /// Why the setting of that position cannot be used for a problem that the variant takes, or nullptr.
  const char* (*refuse)(const Problem&, const DeviceInfo&, std::size_t setting);
  void (*run)(const Problem&, std::size_t setting);
};

template <class Problem>
struct Variant {
  const char* name;
  /// Why this variant cannot take the problem on such a device, or nullptr.
  const char* (*refuse)(const Problem&, const DeviceInfo&);
  void (*run)(const Problem&);
  /// Bytes that it takes beside operands and result, of a problem that it does not refuse; nullptr for none.
  std::uint64_t (*workspace)(const Problem&, const DeviceInfo&) = nullptr;
  /// nullptr for none.
  const Settings<Problem>* settings = nullptr;

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

/// A variant, and a setting where one was asked for.
template <class Problem>
struct Choice {
  static constexpr std::size_t own = SIZE_MAX;

  const Variant<Problem>* variant = nullptr;
  std::size_t setting = own;

  const char* reason_against(const Problem& problem, const DeviceInfo& info) const {
    const char* reason = variant->reason_against(problem, info);
    return reason != nullptr || setting == own ? reason : variant->settings->refuse(problem, info, setting);
  }
  std::string name() const {
    return setting == own ? variant->name : std::string(variant->name) + '/' + variant->settings->names()[setting];
  }
  void run(const Problem& problem) const {
    setting == own ? variant->run(problem) : variant->settings->run(problem, setting);
  }
};

/// What "variant" or "variant/setting" names, or no variant.
template <class Problem>
Choice<Problem> find_choice(std::span<const Variant<Problem>> variants, std::string_view name) {
  const std::size_t slash = name.find('/');
  for (const Variant<Problem>& variant : variants) {
    if (name.substr(0, slash) != variant.name) continue;
    if (slash == std::string_view::npos) return {&variant};
    if (variant.settings == nullptr) continue;
    const std::span<const std::string> settings = variant.settings->names();
    for (std::size_t i = 0; i < settings.size(); ++i)
      if (settings[i] == name.substr(slash + 1)) return {&variant, i};
  }
  return {};
}

/// What a ForcedVariant of this thread or CRISOL_VARIANT forces for an op, or an empty text.
std::string forced_variant(std::string_view op);
/// All that the ForcedVariants of this thread ask for, as one text; usually empty.
std::string forced_variants();
bool is_forbidden(std::string_view op, std::string_view variant);

void say_refused(const char* op, const char* variant, const char* reason);
void say_chosen(const char* op, const char* variant, bool tuned = false);
[[noreturn]] void fail_forced(const char* op, const std::string& variant, const std::string& reason);

constexpr const char* forbidden_reason = "forbidden by CRISOL_VARIANT";
constexpr const char* wrong_reason = "wrong where it was verified on this driver";

template <class Problem>
const char* reason_against(const char* op, const Choice<Problem>& choice, const Problem& problem,
                           const DeviceInfo& info) {
  return is_forbidden(op, choice.variant->name) ? forbidden_reason : choice.reason_against(problem, info);
}

template <class Problem>
concept HasKey = requires(const Problem& problem) {
  { problem.key() } -> std::same_as<ProblemKey>;
};

/// Whether the choice gave wrong numbers on this device, which is found out here where nobody knows (see
/// dispatch/verification.h).
template <class Problem>
bool is_wrong(const char* op, const Choice<Problem>& choice, const Problem& problem, const DeviceInfo& info) {
  if (!needs_verification(info)) return false;
  ProblemKey key{};
  if constexpr (HasKey<Problem>) key = problem.key();
  const Candidate candidate{op, choice.variant, choice.setting, key.program(), &info};
  if (const std::optional<bool> agrees = remembered_verdict(candidate)) return !*agrees;
  return !verify(candidate, choice.name(), key);
}

template <class Problem>
void note_problem(ProblemRecord& record, const char* op, std::span<const Variant<Problem>> variants,
                  const Problem& problem, const DeviceInfo& info) {
  const ProblemKey key = problem.key();
  TuningProblem noted{op, key.text(op), key.hash(op), 1, {}};
  const auto add = [&](const std::string& name, const Choice<Problem>& choice) {
    const char* const reason = reason_against(op, choice, problem, info);
    noted.candidates.push_back({name, reason == nullptr ? "" : reason});
    return reason == nullptr;
  };
  for (const Variant<Problem>& variant : variants) {
    if (!add(variant.name, {&variant}) || variant.settings == nullptr) continue;
    const std::span<const std::string> settings = variant.settings->names();
    for (std::size_t i = 0; i < settings.size(); ++i) add(std::string(variant.name) + '/' + settings[i], {&variant, i});
  }
  record.note(noted);
}

/// The stored choice for a problem, as text, or nullptr.
const std::string* tuned_variant(const char* op, const ProblemKey& key, const DeviceInfo& info);
/// Whether there are any.
bool has_tuned_variants();

/// The stored choice where there is one that accepts.
template <class Problem>
Choice<Problem> choose_tuned(const char* op, std::span<const Variant<Problem>> variants, const Problem& problem,
                             const DeviceInfo& info) {
  const std::string* const name = tuned_variant(op, problem.key(), info);
  if (name == nullptr) return {};
  const Choice<Problem> choice = find_choice(variants, *name);
  const char* reason =
      choice.variant == nullptr ? "there is no such variant" : reason_against(op, choice, problem, info);
  if (reason == nullptr && is_wrong(op, choice, problem, info)) reason = wrong_reason;
  if (reason == nullptr) {
    say_chosen(op, name->c_str(), true);
    return choice;
  }
  say_refused(op, name->c_str(), reason);
  return {};
}

/// The forced, the tuned, or the first variant that accepts; a forced one that refuses, or does not exist, throws
/// invalid_argument.
template <class Problem>
Choice<Problem> choose(const char* op, std::span<const Variant<Problem>> variants, const Problem& problem,
                       const DeviceInfo& info) {
  if constexpr (HasKey<Problem>) {
    if (shapes_are_recorded() && !is_trying()) record_shape(op, problem.key());
    if (ProblemRecord* const record = runtime::problem_record(); record != nullptr && !is_trying())
      note_problem(*record, op, variants, problem, info);
  }
  if (const std::string forced = forced_variant(op); !forced.empty()) {
    const Choice<Problem> choice = find_choice(variants, forced);
    if (choice.variant == nullptr) {
      std::string names;
      for (const Variant<Problem>& variant : variants) names += std::string(names.empty() ? "" : ", ") + variant.name;
      fail_forced(op, forced, "there is no such variant; there are: " + names);
    }
    if (const char* reason = choice.reason_against(problem, info)) fail_forced(op, forced, reason);
    if (is_wrong(op, choice, problem, info)) warn_of_wrong(op, forced, info);
    say_chosen(op, forced.c_str());
    return choice;
  }
  if constexpr (HasKey<Problem>) {
    if (has_tuned_variants())
      if (const Choice<Problem> choice = choose_tuned(op, variants, problem, info); choice.variant != nullptr)
        return choice;
  }
  for (const Variant<Problem>& variant : variants) {
    const Choice<Problem> choice{&variant};
    const char* reason = reason_against(op, choice, problem, info);
    if (reason == nullptr && is_wrong(op, choice, problem, info)) {
      if (&variant != &variants.back())
        reason = wrong_reason;
      else
        warn_of_wrong(op, variant.name, info);
    }
    if (reason == nullptr) {
      say_chosen(op, variant.name);
      return choice;
    }
    say_refused(op, variant.name, reason);
  }
  fail_forced(op, "none", "CRISOL_VARIANT forbids every variant that accepts this problem");
}

template <class Problem, std::size_t n>
Choice<Problem> choose(const char* op, const Variant<Problem> (&variants)[n], const Problem& problem,
                       const DeviceInfo& info) {
  return choose(op, std::span<const Variant<Problem>>(variants), problem, info);
}

using crisol::ForcedVariant;

}  // namespace crisol::ops
