// The flags of products that are computed in several parts of the depth, one part after another.
#include "common/inline.h"
#include "product/gemm_flags.h"

// C holds the sums of earlier parts, so every part but the first is added to C. Only the last part finishes the sums.
INLINE int flags_of_part(int flags, bool is_first, bool is_last) {
  const int now = (flags & GATHERED) | (is_first ? flags & ADD_TO_C : ADD_TO_C);
  return is_last ? now | (flags & ~ADD_TO_C) : now;
}
