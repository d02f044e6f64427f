// Positions in convolutions, for sizes that may need 64 bits.
#include "conv/parameters.h"

// Returns the index along an axis of `size` for the flat index *rest. *rest becomes the flat index over the outer axes.
// A 64-bit division takes some hundred instructions on a GPU, so small numbers are divided in 32 bits.
static inline long take_index(long* rest, long size) {
  const long outer = (*rest | size) >> 31 == 0 ? (long)((uint)*rest / (uint)size) : *rest / size;
  const long index = *rest - outer * size;
  *rest = outer;
  return index;
}

// The output whose window begins at `position`: position / stride. It is -1 if no window begins there, or if the output
// is not one of 0 … count-1.
static inline long output_at(long position, int stride, long count) {
  if (position < 0) return -1;
  long output = position;
  const bool hit = stride == 1 || take_index(&output, stride) == 0;
  return hit && output < count ? output : -1;
}
