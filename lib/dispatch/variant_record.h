// Where dispatch says what it chose.
#pragma once

namespace crisol::runtime {

/// Tells the VariantRecords of this thread; does nothing when there are none.
void note_choice(const char* op, const char* variant);

}  // namespace crisol::runtime
