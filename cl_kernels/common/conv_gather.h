// B of common/conv_product.h: columns that are gathered from the images while they are read.
//
// An item reads GATHER neighbours of the depth, of one column. What differs between them in the images stands in a table of
// conv2d_block_prepare.cl, so that a loop divides nothing: for each four of them, how far their pixels lie from that of the
// first tap, then which taps they are, as bits 1 << r | 1 << (16 + s). A column has the bits of all taps that lie outside of
// the plane.
//
// Whoever includes this defines before it, beside a tile's BN and ITEMS, the elements of the depth in a slice,
// GATHER_DEPTH, and which item this is, GATHER_ITEM.
#include "common/conv_taps.h"
#include "common/hidden_reads.h"

#define GATHER (BN * GATHER_DEPTH / ITEMS)
#if GATHER % 4
#error "an item reads whole fours of the table"
#endif
INLINE int gather_column(void) { return GATHER_ITEM % BN; }
INLINE int gather_line(void) { return GATHER_ITEM / BN * GATHER; }

typedef struct {
  __global const float* src;  // The first tap of the item's column, which may lie outside.
  __global const int4* table;  // From the item's first line of the slice on: four shifts, then the taps of the same.
  int home;  // From there to something that may be read.
  uint outside;
  bool hidden[GATHER];  // Of the slice that was read.
} Gather;

// Of column `column` and the depth from `first` on; plane and walk as in common/conv_product.h.
INLINE Gather gather_begin(__global const float* src, __global const int* table, int first, uint column,
                           const long8 plane, const long8 walk) {
  const uint image = column / (uint)plane.s4, pixel = column - image * (uint)plane.s4;
  const uint oh = pixel / (uint)plane.s5, ow = pixel - oh * (uint)plane.s5;
  const int h = (int)oh * (int)walk.s0 + (int)walk.s2, w = (int)ow * (int)walk.s1 + (int)walk.s3;
  Gather g;
  g.home = -(h * (int)plane.s1 + w);
  g.src = src + image * plane.s6 - g.home;
  g.outside = taps_outside(h, w, (int)walk.s4, (int)walk.s5, (int)plane.s2, (int)plane.s3, (int)plane.s0, (int)plane.s1);
  g.table = (__global const int4*)table + (first + gather_line()) / 2;
  return g;
}

// Reads a slice of the depth, whole: also where it reaches beyond the end.
INLINE void gather_load(Gather* g, float* values) {
  int shift[GATHER], taps[GATHER];
  UNROLL
  for (int p = 0; p < GATHER / 4; ++p) {
    vstore4(g->table[2 * p], p, shift);
    vstore4(g->table[2 * p + 1], p, taps);
  }
  UNROLL
  for (int p = 0; p < GATHER; ++p) {
    g->hidden[p] = (g->outside & taps[p]) != 0;
#if SKIPS_HIDDEN
    values[p] = 0.0f;
    if (!g->hidden[p]) values[p] = g->src[shift[p]];
#else
    values[p] = g->src[g->hidden[p] ? g->home : shift[p]];
#endif
  }
}

// Makes 0 what lies behind `depth` in a slice that was read.
INLINE void gather_end(float* values, int depth) {
  UNROLL
  for (int p = 0; p < GATHER; ++p)
    if (gather_line() + p >= depth) values[p] = 0.0f;
}

// By a multiple of four.
INLINE void gather_move(Gather* g, int depth) { g->table += depth / 2; }

// What was read of line p of the slice, 0 where it lies outside of the plane: only then is the read waited for.
INLINE float gathered_value(const Gather* g, const float* values, int p) {
  return !SKIPS_HIDDEN && g->hidden[p] ? 0.0f : values[p];
}
