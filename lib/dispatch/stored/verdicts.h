// Outcomes of verifications: the outcomes of this process, and the file with the outcomes of all processes.
#pragma once

#include <optional>
#include <string>

#include "crisol/verification.h"

namespace crisol::dispatch {

/// The outcome that this process knows for a device's variant. If it knows none, the outcome in the file. With `fresh`
/// the file is not read.
std::optional<Verification> find_verification(Device device, const std::string& op, const std::string& variant,
                                              bool fresh);

/// Makes an outcome known in this process and, if it is `lasting`, writes it to the file for other processes. If the
/// file cannot be written, a line is logged when CRISOL_VERBOSE has build.
void note_verification(Device device, const Verification& outcome, bool lasting);

/// Forgets the verdicts that this process knows, for tests.
void forget_verifications();

}  // namespace crisol::dispatch
