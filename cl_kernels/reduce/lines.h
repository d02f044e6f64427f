// Lines along the middle axis of contiguous tensors (outer, n, inner). A line is the elements of one pair
// (outer, inner). A work-item takes positions first … end - 1 of each of its lines. If this is too much work for one
// launch, the host splits the positions over several launches. Each launch continues with the results of the launch
// before.
#include "reduce/parameters.h"

#define FOR_LINES                                                                 \
  const long n = sizes.n, inner = sizes.inner;                                    \
  const long last = min((long)(get_global_id(0) + 1) * sizes.chunk, sizes.lines); \
  for (long line = get_global_id(0) * sizes.chunk; line < last; ++line)
#define START_OF_LINE (line / inner * n * inner + line % inner)
