#include "dispatch/verification.h"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/tuning.h"
#include "dispatch/choose.h"
#include "dispatch/stored/verdicts.h"
#include "dispatch/trials.h"
#include "runtime/capture/capture.h"
#include "runtime/verbose.h"

namespace crisol::dispatch {

namespace {

enum class Mode { off, first, always };

Mode mode() {
  static const Mode chosen = [] {
    // The driver behind `crisol kernels` imitates other devices and computes nothing.
    if (!runtime::environment("CRISOL_NULL_DEVICE").empty()) return Mode::off;
    const std::string text = runtime::environment("CRISOL_VERIFY");
    if (text == "off") return Mode::off;
    if (text == "always") return Mode::always;
    require(text.empty() || text == "first", "CRISOL_VERIFY", '\'', text, "' is none of off, first and always");
    return Mode::first;
  }();
  return chosen;
}

std::atomic<bool> all_unknown{false};
/// Changes whenever the verdicts that threads remember become invalid.
std::atomic<unsigned> needs_generation{1};

std::optional<Device> device_of(const DeviceInfo& info) {
  for (const Device device : devices())
    if (&device.info() == &info) return device;
  return std::nullopt;
}

/// A variant of an op, and the part of the problem's key that selects programs.
using Unit = std::pair<std::string, std::string>;

/// A trial that this thread runs. The list starts with the innermost trial.
struct Trial {
  Unit unit;
  std::string op;  ///< The op that the trial runs.
  bool refused = false;
  Trial* outer;
};
Trial* innermost() noexcept { return static_cast<Trial*>(thread_context().dispatch.trial); }

bool is_within(const Unit& unit) {
  for (const Trial* trial = innermost(); trial != nullptr; trial = trial->outer)
    if (trial->unit == unit) return true;
  return false;
}

/// The mutex is recursive, because a trial runs other ops, whose variants are tried within it.
std::recursive_mutex& one_at_a_time() {
  // Never destroyed, because callers may outlive static objects.
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

/// The variants for which this process could make no trial, by device.
std::set<std::pair<int, Unit>>& untried() {
  static auto& all = *new std::set<std::pair<int, Unit>>;
  return all;
}
std::set<std::pair<int, Unit>>& warned() {
  static auto& all = *new std::set<std::pair<int, Unit>>;
  return all;
}

// ---- The trial

enum class Result { agrees, disagrees, fails, refused, no_memory, unknown };
struct Found {
  Result result;
  std::string detail = {};
};

const char* name_of(Result result) {
  switch (result) {
    case Result::agrees: return "it agrees";
    case Result::disagrees: return "it disagrees";
    case Result::fails: return "the device fails";
    case Result::refused: return "it refuses every small problem";
    case Result::no_memory: return "there is no memory";
    case Result::unknown: break;
  }
  return "there is no small problem";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A problem as CRISOL_PROBLEM_LOG writes it.
struct ProblemText {
  std::string text;
  Device device;
};

Found try_problem(const Unit& unit, const ProblemText& problem, std::int64_t factor, std::int64_t divisor) {
  std::optional<TrialProblem> made;
  try {
    made = trials().problem(problem.text, problem.device, factor, divisor);
    if (!made) return {Result::unknown};
  } catch (const Error& error) {
    return {error.code() == ErrorCode::out_of_memory ? Result::no_memory : Result::unknown};
  }
  Trial trial{unit, made->op, false, innermost()};
  thread_context().dispatch.trial = &trial;
  const struct Leave {
    ~Leave() { thread_context().dispatch.trial = innermost()->outer; }
  } leave;
  try {
    const ForcedVariant forced(made->op, unit.second);
    const std::string difference = made->difference(unit.second);
    return {difference.empty() ? Result::agrees : Result::disagrees, difference};
  } catch (const Error& error) {
    if (trial.refused) return {Result::refused};
    if (error.code() == ErrorCode::build_failure) return {Result::disagrees, first_line(error.what())};
    if (error.code() == ErrorCode::device_failure) return {Result::fails, first_line(error.what())};
    if (error.code() == ErrorCode::out_of_memory) return {Result::no_memory};
  } catch (const std::bad_alloc&) {
    return {Result::no_memory};
  }
  return {Result::unknown};
}

/// Tries the smallest problem that the variant takes, and larger problems with the same programs. Problems with one
/// element or with only full groups do not show every error.
Found try_variant(const Unit& unit, const ProblemText& problem) {
  Found found{Result::refused};
  for (const std::int64_t factor : {1, 2, 4, 8, 16, 0}) {  // 0: the problem's own sizes.
    found = try_problem(unit, problem, factor, 0);
    if (found.result != Result::refused) break;
  }
  for (const std::int64_t divisor : {1, 6}) {
    if (found.result != Result::agrees) break;
    const Found other = try_problem(unit, problem, 1, divisor);
    if (other.result == Result::disagrees) found = other;
  }
  return found;
}

void log_disagreement(const DeviceInfo& info, const Verification& v) {
  runtime::log_line(concat("verification: ", v.op, " by ", v.variant, " is wrong on ", info.name, " (", info.platform,
                           ", driver ", info.driver_version, "): ", v.detail,
                           "; it is passed over where the op has another variant. Please report this line with what "
                           "`crisol doctor` prints"));
}

/// While it lives, the thread's computations are not traced.
struct Untraced {
  Trace* const trace = std::exchange(thread_context().trace, nullptr);

  ~Untraced() { thread_context().trace = trace; }
};

/// The verdict, and whether it stays valid for this process.
struct Verdict {
  bool agrees, lasts;
};

Verdict find_verdict(const Unit& unit, const std::string& problem, Device device) {
  const std::lock_guard lock(one_at_a_time());
  if (is_within(unit)) return {true, false};
  if (const auto known = find_verification(device, unit.first, unit.second, mode() == Mode::always))
    return {known->agrees, true};
  if (untried().count({device.index(), unit}) > 0) return {true, true};
  const runtime::PauseCapture pause;  // The trial's launches must not be captured or profiled.
  const Untraced untraced;
  device.synchronize();  // Waits first, so that later errors come from the trial.
  const auto start = std::chrono::steady_clock::now();
  const Found found = try_variant(unit, {problem, device});
  runtime::log(runtime::Topic::dispatch, unit.first, ": ", unit.second, " tried in ",
               runtime::milliseconds_since(start), " ms: ", name_of(found.result));
  if (found.result == Result::no_memory) return {true, false};
  if (found.result == Result::refused || found.result == Result::unknown) {
    untried().insert({device.index(), unit});
    return {true, true};
  }
  const Verification outcome{unit.first, unit.second, found.result == Result::agrees, found.detail};
  note_verification(device, outcome, found.result != Result::fails);
  if (!outcome.agrees) log_disagreement(device.info(), outcome);
  return {outcome.agrees, true};
}

// ---- The verdicts that a thread remembers

struct Remembered {
  Subject candidate{};
  unsigned generation = 0;
  bool agrees = true;
};

Remembered& slot_of(const Subject& c) noexcept {
  thread_local std::array<Remembered, 128> slots;
  Hash hash(c.program);
  hash.add(reinterpret_cast<std::uintptr_t>(c.variant) ^ reinterpret_cast<std::uintptr_t>(c.op));
  hash.add(c.setting);
  return slots[hash.value() % slots.size()];
}

}  // namespace

Trials& trials() noexcept {
  static Trials of_process;
  return of_process;
}

bool needs_verification(const DeviceInfo& info) {
  struct Last {
    const DeviceInfo* info;
    unsigned generation;
    bool needs;
  };
  thread_local Last last{};
  const unsigned now = needs_generation.load(std::memory_order_relaxed);
  if (last.info == &info && last.generation == now) return last.needs;
  const bool wanted = mode() == Mode::always || (mode() == Mode::first && (all_unknown || !is_verified_driver(info)));
  last = {&info, now, wanted && device_of(info).has_value()};
  return last.needs;
}

std::optional<bool> remembered_verdict(const Subject& candidate) noexcept {
  const Remembered& slot = slot_of(candidate);
  if (slot.generation != needs_generation.load(std::memory_order_relaxed) || slot.candidate != candidate)
    return std::nullopt;
  return slot.agrees;
}

bool verify(const Subject& candidate, const std::string& name, const ProblemKey& key) {
  const unsigned now = needs_generation.load(std::memory_order_relaxed);
  const std::optional<Device> device = device_of(*candidate.info);
  if (!device || trials().problem == nullptr) return true;
  const Unit unit{std::string(trials().op_of(candidate.op)).append(key.program_text()), name};
  const Verdict verdict = find_verdict(unit, key.text(candidate.op), *device);
  if (verdict.lasts) slot_of(candidate) = {candidate, now, verdict.agrees};
  return verdict.agrees;
}

void warn_of_wrong(const char* op, const std::string& variant, const DeviceInfo& info) {
  {
    const std::lock_guard lock(one_at_a_time());
    if (!warned().insert({device_of(info)->index(), {op, variant}}).second) return;
  }
  runtime::log_line(concat("verification: ", op, " by ", variant, " is wrong on ", info.name,
                           " and used all the same, as it is forced or the only one"));
}

bool is_trying() noexcept { return innermost() != nullptr; }

void note_refused_trial(const char* op) noexcept {
  if (innermost() != nullptr && innermost()->op == op) innermost()->refused = true;
}

void assume_unknown_drivers(bool unknown) {
  const std::lock_guard lock(one_at_a_time());
  all_unknown = unknown;
  untried().clear();
  warned().clear();
  forget_verifications();
  ++needs_generation;
  dispatch::forget_prepared();
}

}  // namespace crisol::dispatch
