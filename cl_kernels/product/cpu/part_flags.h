// The flags of a product whose depth is computed in several parts, one part after another.
#include "common/inline.h"
#include "product/gemm_flags.h"

// C holds the sums of the earlier parts, so every part except for the first is added to C. Only the last part runs the
// epilogue.
INLINE int flags_of_part(int flags, bool is_first, bool is_last) {
  const int now = (flags & GATHERED) | (is_first ? flags & ADD_TO_C : ADD_TO_C);
  return is_last ? now | (flags & ~ADD_TO_C) : now;
}
