// Which tile of C a work-group computes, of which part of the depth and which product of a batch: groups count tiles first.
#include "common/inline.h"

typedef struct {
  long row, column, index;
  uint part;
} TilePlace;

// Tiles are numbered so that groups that run at the same time share operands: 8 rows of tiles, then the next column.
INLINE TilePlace tile_place(long m, long n, uint parts) {
  const uint tiles_m = (uint)((m + BM - 1) / BM), tiles_n = (uint)((n + BN - 1) / BN);
  const uint group = get_group_id(0) / (tiles_m * tiles_n);
  uint tile = get_group_id(0) % (tiles_m * tiles_n);
  const uint band = tile / (8 * tiles_n) * 8, rows = min(8u, tiles_m - band);
  tile -= band * tiles_n;
  const TilePlace place = {(long)(band + tile % rows) * BM, (long)(tile / rows) * BN, group / parts, group % parts};
  return place;
}
