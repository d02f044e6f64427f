// Stores a tile of product/block.h.
//
// Before a file includes this one, it must define the places of columns in a row of the result: a type Columns and
// place_of(columns, column). place_of maps a multiple of VEC_C to a multiple of VEC_C, and the columns after it to the
// next places.
#include "product/block.h"
#include "product/target.h"

// Stores the item's part of a tile of an m x n result. (row, column) is the first element of the tile.
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
