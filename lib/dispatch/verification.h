// No wrong number without a word on a driver that nobody has tried: before its first use there a variant computes a
// small problem, which is held against a reference on the host. One that disagrees is passed over, with a line on
// stderr. CRISOL_VERIFY=off|first|always; crisol/verification.h tells what was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "crisol/device.h"
#include "dispatch/problem_key.h"

namespace crisol::ops {

/// What is asked about: a variant of a table, and which of its programs the problem takes.
struct Candidate {
  const char* op;
  const void* variant;  ///< The entry of the table.
  std::size_t setting;
  std::uint64_t program;  ///< ProblemKey::program().
  const DeviceInfo* info;

  bool operator==(const Candidate&) const = default;
};

/// Whether variants are verified on the device: its driver is not on the list, or CRISOL_VERIFY=always. False for a
/// device that is not one of this process.
bool needs_verification(const DeviceInfo& info);

/// What this thread has asked before, or nothing.
std::optional<bool> remembered_verdict(const Candidate& candidate) noexcept;

/// Whether the variant of that name, "block" or "block/64x64", may be used, which is tried where nobody has. Launches,
/// compiles and waits; recordings, profiles and records of choices do not see it. One trial at a time: other threads
/// wait. Throws what the device's earlier work failed with, and nothing of the trial's own.
bool verify(const Candidate& candidate, const std::string& name, const ProblemKey& key);

/// A line on stderr, once: a variant disagrees, and is used because it is forced or because there is no other.
void warn_of_wrong(const char* op, const std::string& variant, const DeviceInfo& info);

/// Whether this thread's work is a trial.
bool is_trying() noexcept;
/// The trial's variant refuses its problem.
void note_refused_trial(const char* op) noexcept;

/// For tests: lets every driver be one that nobody has tried, and forgets what this process knows.
void assume_unknown_drivers(bool unknown);

}  // namespace crisol::ops
