// Prevents silent wrong numbers on a driver that nobody has tried. Before its first use there, a variant computes a
// small problem, which is compared with a reference on the host. A variant that disagrees is skipped, with a line on
// stderr. CRISOL_VERIFY=off|first|always chooses when this is done. crisol/verification.h gives the outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "crisol/device.h"
#include "dispatch/problem_key.h"

namespace crisol::dispatch {

/// The subject of a verification: a variant of a table, and which of its programs the problem uses.
struct Subject {
  const char* op;
  const void* variant;  ///< The entry of the table.
  std::size_t setting;
  std::uint64_t program;  ///< ProblemKey::program().
  const DeviceInfo* info;

  bool operator==(const Subject&) const = default;
};

/// True if variants are verified on the device: its driver is not on the list, or CRISOL_VERIFY=always. False for a
/// device that is not one of this process.
bool needs_verification(const DeviceInfo& info);

/// The verdict if this thread has asked before, else nothing.
std::optional<bool> remembered_verdict(const Subject& candidate) noexcept;

/// Returns true if the variant of that name, "block" or "block/64x64", may be used. If nobody has tried the variant, it
/// is tried now. A trial launches, compiles and waits. Captured graphs, profiles and logs of choices do not see it.
/// There is one trial at a time, and other threads wait. Throws the errors of the device's earlier work, but no error
/// of the trial.
bool verify(const Subject& candidate, const std::string& name, const ProblemKey& key);

/// Writes a line to stderr, once: a variant disagrees, but is used because it is forced or because there is no other.
void warn_of_wrong(const char* op, const std::string& variant, const DeviceInfo& info);

/// True if this thread's work is a trial.
bool is_trying() noexcept;
/// Notes that the trial's variant refuses its problem.
void note_refused_trial(const char* op) noexcept;

/// For tests: with `unknown`, treats every driver as if nobody had tried it. Forgets the verdicts that this process
/// knows.
void assume_unknown_drivers(bool unknown);

}  // namespace crisol::dispatch
