// The tile of C that a work-group computes, its part of the depth, and its product of a batch. Groups count tiles
// first.
#include "common/inline.h"
#include "common/uniform.h"
#include "product/parameters.h"

typedef struct {
  long row, column, index;
  int first, depth;  // The first element of this part of the depth, and the number of elements.
  uint part;
} TilePlace;

INLINE TilePlace tile_place(const ProductParameters* p, uint tile_m, uint tile_n, uint group) {
  const uint index = group / (uint)p->parts, part = group - index * (uint)p->parts;
  const int first = (int)part * (int)p->part_depth;
  const int depth = min((int)p->k - first, (int)p->part_depth);
  const TilePlace place = {(long)tile_m * BM, (long)tile_n * BN, index, first, depth, part};
  return place;
}

// Groups that run at the same time share operands: tiles are numbered over 8 rows of tiles, then over the next column.
INLINE TilePlace tile_place_in_bands(const ProductParameters* p) {
  const uint tiles_m = (uint)((p->m + BM - 1) / BM), tiles_n = (uint)((p->n + BN - 1) / BN);
  const uint group = get_group_id(0) / (tiles_m * tiles_n);
  uint tile = get_group_id(0) % (tiles_m * tiles_n);
  const uint band = tile / (8 * tiles_n) * 8, rows = min(8u, tiles_m - band);
  tile -= band * tiles_n;
  return tile_place(p, band + tile % rows, tile / rows, group);
}

// The tiles of one column follow one another, because they read the same pixels. m and n are below 2^31.
INLINE TilePlace tile_place_by_columns(const ProductParameters* p) {
  const uint tiles_m = (uint)((int)p->m + BM - 1) / BM, tiles_n = (uint)((int)p->n + BN - 1) / BN;
  const uint group = get_group_id(0) / (tiles_m * tiles_n), tile = get_group_id(0) - group * (tiles_m * tiles_n);
  const uint tile_n = UNIFORM(tile / tiles_m), tile_m = UNIFORM(tile) - tile_n * tiles_m;
  return tile_place(p, tile_m, tile_n, UNIFORM(group));
}
