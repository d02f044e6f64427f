// Where dispatch records its choices.
#pragma once

namespace crisol::runtime {

/// Tells the choice to the VariantRecords of this thread. Does nothing if there are none.
void note_choice(const char* op, const char* variant);

}  // namespace crisol::runtime
