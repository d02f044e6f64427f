// Prevents silent wrong numbers on a driver that nobody has tried. Before its first use on such a driver, a variant
// computes a small problem, and the result is compared with a reference on the host. A variant with wrong results is
// skipped, with a line on stderr. CRISOL_VERIFY=off|first|always says when variants are verified. crisol/verification.h
// gives the outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "crisol/device.h"
#include "dispatch/problem_key.h"

namespace crisol::dispatch {

/// What is verified: a variant of a table, with the programs that the problem uses.
struct Subject {
  const char* op;
  const void* variant;  ///< The variant's entry in the table.
  std::size_t setting;
  std::uint64_t program;  ///< ProblemKey::program().
  const DeviceInfo* info;

  bool operator==(const Subject&) const = default;
};

/// True if variants are verified on the device: its driver is not on the list, or CRISOL_VERIFY=always. False for
/// devices that this process does not have.
bool needs_verification(const DeviceInfo& info);

/// The verdict, if this thread has asked for it before.
std::optional<bool> remembered_verdict(const Subject& candidate) noexcept;

/// Returns true if the variant with this name ("block" or "block/64x64") may be used. If the variant was never tried,
/// it is tried now. A trial compiles, launches and waits. Captures, profiles and logs of choices leave it out. Only one
/// trial runs at a time, and other threads wait. Throws the errors of the device's earlier work, but no errors of the
/// trial.
bool verify(const Subject& candidate, const std::string& name, const ProblemKey& key);

/// Writes a line to stderr, once: the variant computes wrong numbers, but is used because it is forced or because there
/// is no other.
void warn_of_wrong(const char* op, const std::string& variant, const DeviceInfo& info);

/// Whether this thread is running a trial.
bool is_trying() noexcept;
/// Notes that the trial's variant refuses its problem.
void note_refused_trial(const char* op) noexcept;

/// For tests: with `unknown`, treats every driver as if nobody had tried it. Forgets the verdicts that this process
/// knows.
void assume_unknown_drivers(bool unknown);

}  // namespace crisol::dispatch
