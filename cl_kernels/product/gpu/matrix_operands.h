// Two matrices as the operands of engines/multiply.h. A file that includes this file defines VEC (matrix_reader.h), how
// A and B are stored (A_STORAGE, B_STORAGE), and whether they have stride 1 along the depth (A_ALONG_K, B_ALONG_K).
#include "product/gpu/matrix_reader.h"

typedef struct {
  MatrixReader a, b;
} Operands;

INLINE void operands_load(const Operands* o, VALUE_TYPE* a, VALUE_TYPE* b) {
  matrix_load(&o->a, a, BM, A_STORAGE);
  matrix_load(&o->b, b, BN, B_STORAGE);
}

INLINE void operands_end(VALUE_TYPE* a, VALUE_TYPE* b, int depth) {
  matrix_end(a, depth, BM, A_ALONG_K);
  matrix_end(b, depth, BN, B_ALONG_K);
}

INLINE void operands_move(Operands* o, int depth) {
  matrix_move(&o->a, depth);
  matrix_move(&o->b, depth);
}

INLINE void operands_keep(const Operands* o, const VALUE_TYPE* a, const VALUE_TYPE* b, __local StageWord* stage) {
  matrix_keep(a, STAGE_A(stage), BM, A_ALONG_K);
  matrix_keep(b, STAGE_B(stage), BN, B_ALONG_K);
}
