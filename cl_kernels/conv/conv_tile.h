// The tile of a convolution's product that a work-group computes, its part of the depth, and its group of channels.
#include "common/inline.h"
#include "conv/uniform.h"

typedef struct {
  int row, column;   // The tile's first row and column.
  int first, depth;  // The first element of this part of the depth, and the number of elements.
  uint part, index;
} ConvTile;

// m x n results, depth k, one product for each group of channels. The tiles of one column follow one another, because
// they read the same pixels.
INLINE ConvTile conv_tile(int m, int n, int k, int part_depth, int parts) {
  const uint tiles_m = (uint)(m + BM - 1) / BM, tiles_n = (uint)(n + BN - 1) / BN;
  const uint group = get_group_id(0) / (tiles_m * tiles_n), tile = get_group_id(0) - group * (tiles_m * tiles_n);
  const uint index = UNIFORM(group / (uint)parts), part = UNIFORM(group) - index * (uint)parts;
  const uint tile_n = UNIFORM(tile / tiles_m), tile_m = UNIFORM(tile) - tile_n * tiles_m;
  const int first = (int)part * part_depth;
  const ConvTile place = {(int)tile_m * BM, (int)tile_n * BN, first, min(k - first, part_depth), part, index};
  return place;
}
