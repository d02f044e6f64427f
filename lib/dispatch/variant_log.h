// The log to which dispatch adds its choices.
#pragma once

namespace crisol::dispatch {

/// Tells the choice to the VariantLogs of this thread. Does nothing if there are none.
void note_choice(const char* op, const char* variant);

}  // namespace crisol::dispatch
