// Stores a tile of product/engine.h.
//
// Before a file includes this one, it must define the places of columns in a row of the result: a type Columns and
// place_of(columns, column). place_of maps a multiple of VEC_C to a multiple of VEC_C, and the columns after it to the
// next places.
#include "product/engine.h"
#include "product/target.h"

// Stores the item's sums of a tile of an m x n result. (row, column) is the first element of the tile.
INLINE void tile_store(TileSums acc, long row, long column, long m, long n, const Columns* columns, const Target* t,
                       const Finish* finish) {
  UNROLL
  for (int s = 0; s < SUM_COUNT; s += VEC_C) {
    const long to_row = row + sum_row(s), to_column = column + sum_column(s);
    if (to_row >= m || to_column >= n) continue;
    const long place = place_of(columns, to_column);
#if VEC_C > 1
    store_sums(LOAD_SUMS(0, acc + s), to_row, place, t, finish);
#else
    store_sums(acc[s], to_row, place, t, finish);
#endif
  }
}
