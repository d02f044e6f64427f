// Convolution on GPUs as a product whose B is gathered from the images while it is read: no matrix of patches.
//
//   C[i][j] = f(sum over k of A[i][k] * src[image][channel][h][w] (+ bias[i]))      m x n, depth k, a product per group
//   j = (image, oh, ow), k = (channel, r, s), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//
// A forward convolution reads x with step = stride, start = -padding, tap = dilation. The gradient of the input is, for
// each remainder of the position by the stride, such a sum over the gradient of the output, with negative taps.
//
// A row of A has the depth's elements one after another, their number being a multiple of four. What differs between them
// in the images stands in a table of conv2d_block_prepare.cl, so that the loop divides nothing: for each four of them, how
// far their pixels lie from that of the first tap, then which taps they are, as bits 1 << r | 1 << (16 + s). A column has
// the bits of all taps that lie outside of the plane.
//
// plane = (height, width, taps_h, taps_w, pixels of a column's image: OH * OW, OW, distance of images of src, unused)
// walk = (step_h, step_w, start_h, start_w, tap_h, tap_w, unused, unused), to: common/conv_columns.h.
//
// Deep products with few tiles are cut as those of gemm_block.cl; conv2d_block_parts.cl adds them up.
#define VEC 4
#include "common/block_source.h"

// An item reads GATHER of the slice's lines, one column of each.
#define GATHER (BN * BK / ITEMS)
INLINE int gather_column(void) { return block_item() % BN; }
INLINE int gather_line(void) { return block_item() / BN * GATHER; }

typedef struct {
  MatrixSource a;
  __global const float* src;  // The first tap of the item's column, which may lie outside.
  __global const int4* table;  // From the item's first line of the slice on: four shifts, then the taps of the same.
  int home;  // From there to something that may be read.
  uint outside;
  bool hidden[GATHER];  // Of the slice that was read.
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  source_load(&o->a, a, BM, 1, VEC);
  int shift[GATHER], taps[GATHER];
  UNROLL
  for (int p = 0; p < GATHER / 4; ++p) {
    vstore4(o->table[2 * p], p, shift);
    vstore4(o->table[2 * p + 1], p, taps);
  }
  UNROLL
  for (int p = 0; p < GATHER; ++p) {
    o->hidden[p] = (o->outside & taps[p]) != 0;
    b[p] = o->src[o->hidden[p] ? o->home : shift[p]];
  }
}

INLINE void operands_end(float* a, float* b, int depth) {
  source_end(a, depth, BM, 1, VEC);
  UNROLL
  for (int p = 0; p < GATHER; ++p)
    if (gather_line() + p >= depth) b[p] = 0.0f;
}

INLINE void operands_move(Operands* o, int depth) {
  o->a.at += depth * o->a.step;
  o->table += depth / 2;
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local float* stage) {
  source_keep(a, stage, PITCH_A, BM, 1, VEC);
  UNROLL
  for (int p = 0; p < GATHER; ++p) stage[BK * PITCH_A + (gather_line() + p) * PITCH_B + gather_column()] = o->hidden[p] ? 0.0f : b[p];
}

#include "common/block_multiply.h"
#include "common/conv_columns.h"
#include "common/conv_taps.h"
#include "common/block_store.h"

BLOCK_KERNEL void conv2d_block(__global const float* restrict a, const ulong a_offset, __global const float* restrict src,
                               const ulong src_offset, __global float* restrict c, const ulong c_offset,
                               __global const float* restrict bias, const ulong bias_offset,
                               __global const int* restrict table, const ulong table_offset, EPILOGUE_PARAMETERS,
                               const int m, const int n, const int k, const long a_group, const int a_step,
                               const long src_group, const long c_group, const long c_row, const long8 plane,
                               const long8 walk, const long4 to, const int part_depth, const int parts,
                               const int flags) {
  __local float stages[2 * STAGE] __attribute__((aligned(16)));
  const uint tiles_m = (uint)(m + BM - 1) / BM, tiles_n = (uint)(n + BN - 1) / BN;
  uint group = get_group_id(0);
  const uint tile = group % (tiles_m * tiles_n);
  group /= tiles_m * tiles_n;
  const uint part = group % parts, index = group / parts;
  // The rows of tiles of one column follow one another: they read the same pixels.
  const int row = (int)(tile % tiles_m) * BM, column = (int)(tile / tiles_m) * BN;
  const int first = (int)part * part_depth, depth = min(k - first, part_depth);

  Operands o;
  o.a = source_begin(a + a_offset + index * a_group + first, a_step, row, m, depth, BM, 1, VEC);
  const uint mine = (uint)min(column + gather_column(), n - 1);
  const uint image = mine / (uint)plane.s4, pixel = mine - image * (uint)plane.s4;
  const uint oh = pixel / (uint)plane.s5, ow = pixel - oh * (uint)plane.s5;
  const int h = (int)oh * (int)walk.s0 + (int)walk.s2, w = (int)ow * (int)walk.s1 + (int)walk.s3;
  o.home = -(h * (int)plane.s1 + w);
  o.src = src + src_offset + index * src_group + image * plane.s6 - o.home;
  o.outside = taps_outside(h, w, (int)walk.s4, (int)walk.s5, (int)plane.s2, (int)plane.s3, (int)plane.s0, (int)plane.s1);
  o.table = (__global const int4*)(table + table_offset) + (first + gather_line()) / 2;
  float acc[TM][TN];
  block_multiply(acc, &o, stages, depth);

  // A part of the depth goes to a matrix of its own, without gaps between the images.
  const bool cut = parts > 1;
  const Columns columns = columns_of(plane, to, cut);
  const long size = (long)m * n;
  const Target target = {c + c_offset + (cut ? (index * parts + part) * size : index * c_group),
                         bias + bias_offset + index * m, cut ? n : c_row, 1, cut ? 0 : flags};
  const Finish finish = FINISH_OF(index);
  block_store(acc, row, column, m, n, &columns, &target, &finish);
}
