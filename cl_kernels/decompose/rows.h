// The rows that decompositions work on. A tensor of rows is a contiguous (batch, n, length). A row holds one vector or
// two. Each vector begins at a multiple of ROW_ALIGNMENT and is padded with zeros. So a row consists of whole chunks of
// VW elements.
//
// A group works on one row, or on one pair of rows, and each work-item always takes the same chunks of a vector. A matrix
// has `slots` groups, which take its rows or pairs in turn. If a matrix has several groups, a launch makes only one
// step, because groups cannot wait for each other.
#include "rowwise/rows.h"

#define CHUNK_OF(row, c) UNALIGNED_ROW((row) + (c) * VW)
#if VW > 1
#define UNALIGNED_ROW(p) UNALIGNED(p)
#define ROW_FMA(a, b, c) FMA(a, b, c)
#else
#define UNALIGNED_ROW(p) (*(p))
#define ROW_FMA(a, b, c) ((a) * (b) + (c))
#endif

#define EACH_ROW_CHUNK(c, first, chunks) for (long c = FIRST_CHUNK(first); c < (chunks); c += GROUP)
// The first chunk that a work-item takes, from chunk `first` on.
#define FIRST_CHUNK(first) ((first) + (LANE_ID - (first) % GROUP + GROUP) % GROUP)

// The sum of a[i] b[i] over whole chunks. All work-items of the group must call it.
#define ROW_DOT(sum, a, b, chunks)                                                \
  {                                                                               \
    rowv part_ = 0.0f;                                                            \
    EACH_ROW_CHUNK(c_, 0, chunks) part_ = ROW_FMA(CHUNK_OF(a, c_), CHUNK_OF(b, c_), part_); \
    sum = row_sum(part_);                                                         \
  }
