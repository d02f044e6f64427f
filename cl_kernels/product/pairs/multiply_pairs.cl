// `batch` products of whole numbers: A times B, both packed as words (product/pairs/pairs.h). The result is (batch, m,
// n). A product may use the A or the B of all (batch_a or batch_b is 0).
//
// A unit of work is the panels of a tile with a block of `block` rows of A. Consecutive units have one block, which
// stays in the L2 cache. The panels stay in the L1 cache while their unit runs.
#include "product/pairs/result.h"

CPU_KERNEL void multiply_pairs_of(__global const int* restrict a, const ulong a_offset, __global const int* restrict b,
                                  const ulong b_offset, SCALED_PARAMETERS, const PairParameters p,
                                  const ScaledParameters by, EPILOGUE_PARAMETERS) {
  const int panels = (p.n + 15) / 16, tiles = (panels + TILE_PANELS - 1) / TILE_PANELS;
  const int blocks = (p.m + p.block - 1) / p.block;
  const long units = (long)p.batch * tiles * blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  a += a_offset;
  b += b_offset;
  int shape = 0;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int panel = (int)(unit % tiles) * TILE_PANELS, block = (int)(unit / tiles % blocks);
    const int column = panel * 16;
    const long index = unit / tiles / blocks;
    const Finish finish = FINISH_OF(index);
    Scaled to = SCALED_OF(&by, &finish);
    to.y += index * p.batch_y;
    __global const int* right = b + index * p.batch_b + (long)panel * PANEL_LINES(p.words) * 16;
    const int end = min(p.m, (block + 1) * p.block);
    NO_UNROLL
    for (int row = block * p.block; row < end; row += TILE_ROWS) {
      pairv sums[TILE_ROWS][2];
      const int rows = min(TILE_ROWS, end - row);
      multiply_tile(sums, a + index * p.batch_a + (long)row * ROW_SIZE(p.words), rows, right, panels - panel, p.words,
                    &shape);
      store_scaled(sums, row, rows, column, min(16 * TILE_PANELS, p.n - column), &to);
    }
  }
  end_tiles();
}
