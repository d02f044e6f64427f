// Column j of a result is element j of its row. product/sink.h uses this for matrices.
#include "common/inline.h"

typedef struct {
  int unused;
} Columns;
INLINE long place_of(const Columns* columns, long column) { return column; }
