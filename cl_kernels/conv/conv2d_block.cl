// Convolution on GPUs, fp32: conv/conv_product.h in the tiles of product/block.h.
#define VEC 4
#include "product/block_source.h"
#define GATHER_DEPTH BK
#define GATHER_ITEM block_item()
#include "conv/conv_gather.h"

typedef struct {
  MatrixSource a;
  Gather b;
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  source_load(&o->a, a, BM, 1, VEC);
  gather_load(&o->b, b);
}

INLINE void operands_end(float* a, float* b, int depth) {
  source_end(a, depth, BM, 1, VEC);
  gather_end(b, depth);
}

INLINE void operands_move(Operands* o, int depth) {
  o->a.at += depth * o->a.step;
  gather_move(&o->b, depth);
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local float* stage) {
  source_keep(a, stage, PITCH_A, BM, 1, VEC);
  UNROLL
  for (int p = 0; p < GATHER; ++p)
    stage[BK * PITCH_A + (gather_line() + p) * PITCH_B + gather_column()] = gathered_value(&o->b, b, p);
}

#define MOVES_BY_SCALAR
#include "product/block_multiply.h"
#include "conv/conv_columns.h"
#include "product/block_store.h"

#define CONV_KERNEL BLOCK_KERNEL void conv2d_block
#include "conv/conv_product.h"
