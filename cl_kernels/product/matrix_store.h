// Stores a tile of product/matrix_multiply.h. Before a file includes this one, it must define Columns, as for
// product/block_store.h.
#include "product/matrix_multiply.h"
#include "product/target.h"

// Stores the wave's part of a tile of an m x n result. (row, column) is the first element of the tile.
INLINE void tile_store(TileSums acc, long row, long column, long m, long n, const Columns* columns, const Target* t,
                       const Finish* finish) {
  const int lane = wave_lane();
  UNROLL
  for (int i = 0; i < ROWS_OF_FRAGMENTS; ++i)
    UNROLL
    for (int j = 0; j < COLUMNS_OF_FRAGMENTS; ++j)
      UNROLL
      for (int e = 0; e < ACC; e += VEC_C) {
        const long to_row = row + wave_row() + i * FM + acc_row(e, lane);
        const long to_column = column + wave_column() + j * FN + acc_column(e, lane);
        if (to_row >= m || to_column >= n) continue;
        const long place = place_of(columns, to_column);
#if VEC_C > 1
        store_sums(LOAD_SUMS(0, acc[i][j] + e), to_row, place, t, finish);
#else
        store_sums(acc[i][j][e], to_row, place, t, finish);
#endif
      }
}
