// Outcomes of verifications: those of this process, and the file of those of all.
#pragma once

#include <optional>
#include <string>

#include "crisol/verification.h"

namespace crisol::runtime {

/// What is known of a device's variant in this process; else, unless `fresh`, what the file says.
std::optional<Verification> find_verification(Device device, const std::string& op, const std::string& variant,
                                              bool fresh);

/// Makes an outcome known in this process, and to others by the file if it is `lasting`. A file that cannot be written
/// costs a line where CRISOL_VERBOSE has build.
void note_verification(Device device, const Verification& outcome, bool lasting);

/// Forgets what this process knows, for tests.
void forget_verifications();

}  // namespace crisol::runtime
