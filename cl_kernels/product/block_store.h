// Stores a tile of product/block.h.
//
// Whoever includes this defines before it where the columns lie in a row of the result: a type Columns and
// place_of(columns, column), which maps multiples of VEC_C and their successors to such.
#include "product/block.h"
#include "product/target.h"

// The item's part of the tile whose first row and column these are, of an m x n result.
INLINE void tile_store(TileSums acc, long row, long column, long m, long n, const Columns* columns, const Target* t,
                       const Finish* finish) {
  row += block_row();
  column += block_column();
  UNROLL
  for (int i = 0; i < TM; ++i) {
    const long to_row = row + ROW_OF(i);
    if (to_row >= m) continue;
    UNROLL
    for (int j = 0; j < TN; j += VEC_C) {
      const long to_column = column + COLUMN_OF(j);
      if (to_column >= n) continue;
      const long place = place_of(columns, to_column);
#if VEC_C > 1
      store_sums(LOAD_SUMS(0, &acc[i][j]), to_row, place, t, finish);
#else
      store_sums(acc[i][j], to_row, place, t, finish);
#endif
    }
  }
}
