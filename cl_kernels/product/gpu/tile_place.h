// The tile of C that a work-group computes, its part of the depth, and its product of a batch. Group ids run through
// the tiles first.
//
// These functions return nothing: Oclgrind cannot run functions that read a parameter's struct and return a struct.
#include "common/inline.h"
#include "common/subgroup_broadcast.h"
#include "product/parameters.h"

typedef struct {
  long row, column, index;
  int first, depth;  // The first element of the group's part of the depth, and the number of its elements.
  uint part;
} TilePlace;

INLINE void tile_place(TilePlace* place, const ProductParameters* p, uint tile_m, uint tile_n, uint group) {
  const uint index = group / (uint)p->split_k, part = group - index * (uint)p->split_k;
  place->row = (long)tile_m * BM;
  place->column = (long)tile_n * BN;
  place->index = index;
  place->first = (int)part * (int)p->part_depth;
  place->depth = min((int)p->k - place->first, (int)p->part_depth);
  place->part = part;
}

// Groups that run at the same time share operands: tiles are numbered down 8 rows of tiles, and then down the next
// column of these rows.
INLINE void tile_place_in_bands(TilePlace* place, const ProductParameters* p) {
  const uint tiles_m = (uint)((p->m + BM - 1) / BM), tiles_n = (uint)((p->n + BN - 1) / BN);
  const uint group = get_group_id(0) / (tiles_m * tiles_n);
  uint tile = get_group_id(0) % (tiles_m * tiles_n);
  const uint band = tile / (8 * tiles_n) * 8, rows = min(8u, tiles_m - band);
  tile -= band * tiles_n;
  tile_place(place, p, band + tile % rows, tile / rows, group);
}

// Tiles of the same column have successive numbers, because they read the same pixels. m and n are below 2^31.
INLINE void tile_place_by_columns(TilePlace* place, const ProductParameters* p) {
  const uint tiles_m = (uint)((int)p->m + BM - 1) / BM, tiles_n = (uint)((int)p->n + BN - 1) / BN;
  const uint group = get_group_id(0) / (tiles_m * tiles_n), tile = get_group_id(0) - group * (tiles_m * tiles_n);
  const uint tile_n = SUBGROUP_BROADCAST(tile / tiles_m), tile_m = SUBGROUP_BROADCAST(tile) - tile_n * tiles_m;
  tile_place(place, p, tile_m, tile_n, SUBGROUP_BROADCAST(group));
}
