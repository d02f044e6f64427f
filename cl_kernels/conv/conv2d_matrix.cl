// Convolution on matrix units: conv/conv_product.h in the tiles of product/matrix_tile.h. Weights and pixels are fp32.
// They are rounded to tf32, fp16 or bf16 on their way into local memory, and summed in fp32.
#define VEC 4
#include "product/matrix_source.h"
#define GATHER_DEPTH SLICE
#define GATHER_ITEM tile_item()
#include "conv/conv_gather.h"

#define LOADS_A (PARTS_OF(BM) * 16)
#define LOADS_B GATHER

typedef struct {
  MatrixSource a;
  Gather b;
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  source_load(&o->a, a, BM, VEC);
  gather_load(&o->b, b);
}

INLINE void operands_end(float* a, float* b, int depth) {
  source_end(a, depth, BM, 1);
  gather_end(b, depth);
}

INLINE void operands_move(Operands* o, int depth) {
  o->a.at += depth * o->a.step;
  gather_move(&o->b, depth);
}

// Neighbouring items write the same words of neighbouring rows. If words are written by fours, no two of these writes
// use the same bank.
INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local uint* stage) {
  source_keep(a, stage, BM, 1);
  uint words[GATHER / PER_WORD];
  UNROLL
  for (int p = 0; p < GATHER; p += PER_WORD)
    words[p / PER_WORD] = round_word(gathered_value(&o->b, b, p), gathered_value(&o->b, b, p + PER_WORD - 1));
  __local uint* to = stage + BM * SLICE_WORDS;
  const int first = gather_line() / PER_WORD;
  UNROLL
#if GATHER / PER_WORD % 4 == 0
  for (int w = 0; w < GATHER / PER_WORD; w += 4)
    *(__local uint4*)(to + place_of_word(gather_column(), first + w)) = vload4(0, words + w);
#else
  for (int w = 0; w < GATHER / PER_WORD; w += 2)
    *(__local uint2*)(to + place_of_word(gather_column(), first + w)) = vload2(0, words + w);
#endif
}

#include "product/matrix_loop.h"
#include "conv/conv_columns.h"
#include "product/matrix_store.h"

#define CONV_KERNEL MATRIX_KERNEL void conv2d_matrix
#include "conv/conv_product.h"
