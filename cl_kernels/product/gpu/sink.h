// Stores a tile of engines/engine.h. VEC_C columns from a multiple of VEC_C on have neighbouring positions in the
// result, and the first position is a multiple of VEC_C.
#include "product/gpu/columns.h"
#include "product/gpu/engines/engine.h"
#include "product/target.h"

// Stores the item's sums of a tile of an m x n result. (row, column) is the first element of the tile.
INLINE void tile_store(TileSums acc, long row, long column, long m, long n, const ColumnParameters* columns,
                       const Target* t, const Finish* finish) {
  row += item_row();
  column += item_column();
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    const long to_row = row + run_row(run);
    if (to_row >= m) continue;
    UNROLL
    for (int i = 0; i < ROW_RUN; i += VEC_C) {
      const long to_column = column + run_column(run, i);
      if (to_column >= n) continue;
      const long place = place_of(columns, to_column);
#if VEC_C > 1
      store_sums(LOAD_SUMS(0, acc + run * ROW_RUN + i), to_row, place, t, finish);
#else
      store_sums(acc[run * ROW_RUN + i], to_row, place, t, finish);
#endif
    }
  }
}
