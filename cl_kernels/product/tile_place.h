// The tile of C that a work-group computes, its part of the depth, and its product of a batch. Groups count tiles
// first.
#include "common/inline.h"

typedef struct {
  long row, column, index;
  uint part;
} TilePlace;

// Groups that run at the same time share operands: tiles are numbered over 8 rows of tiles, then over the next column.
INLINE TilePlace tile_place(long m, long n, uint parts) {
  const uint tiles_m = (uint)((m + BM - 1) / BM), tiles_n = (uint)((n + BN - 1) / BN);
  const uint group = get_group_id(0) / (tiles_m * tiles_n);
  uint tile = get_group_id(0) % (tiles_m * tiles_n);
  const uint band = tile / (8 * tiles_n) * 8, rows = min(8u, tiles_m - band);
  tile -= band * tiles_n;
  const TilePlace place = {(long)(band + tile % rows) * BM, (long)(tile / rows) * BN, group / parts, group % parts};
  return place;
}
