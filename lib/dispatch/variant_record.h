// The record to which dispatch adds its choices.
#pragma once

namespace crisol::runtime {

/// Tells the choice to the VariantRecords of this thread. Does nothing if there are none.
void note_choice(const char* op, const char* variant);

}  // namespace crisol::runtime
