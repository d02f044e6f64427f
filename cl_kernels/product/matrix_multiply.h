// The work of a tile of product/matrix_tile.h on one slice of the depth.
#include "product/matrix_tile.h"

#define ROWS_OF_FRAGMENTS (WM / FM)
#define COLUMNS_OF_FRAGMENTS (WN / FN)

typedef float TileSums[ROWS_OF_FRAGMENTS][COLUMNS_OF_FRAGMENTS][ACC];
#define LOCAL_STAGES __local uint stages[STAGES * STAGE] __attribute__((aligned(128)))
#if !defined(EMULATED) && UNIT >= 6
#define MATRIX_KERNEL \
  __attribute__((intel_reqd_sub_group_size(LANES))) __kernel __attribute__((reqd_work_group_size(LANES, WAVES, 1)))
#else
#define MATRIX_KERNEL __kernel __attribute__((reqd_work_group_size(LANES, WAVES, 1)))
#endif

INLINE void sums_clear(TileSums acc) {
  UNROLL
  for (int i = 0; i < ROWS_OF_FRAGMENTS; ++i)
    UNROLL
    for (int j = 0; j < COLUMNS_OF_FRAGMENTS; ++j)
      UNROLL
      for (int e = 0; e < ACC; ++e) acc[i][j][e] = 0.0f;
}

// acc += a slice of A times a slice of B, both in local memory.
INLINE void slice_multiply(TileSums acc, __local const uint* slice) {
  UNROLL
  for (int step = 0; step < 2; ++step) {
    FragmentA a[ROWS_OF_FRAGMENTS];
    FragmentB b[COLUMNS_OF_FRAGMENTS];
    UNROLL
    for (int i = 0; i < ROWS_OF_FRAGMENTS; ++i) a[i] = fragment_a(slice, wave_row() + i * FM, step);
    UNROLL
    for (int j = 0; j < COLUMNS_OF_FRAGMENTS; ++j)
      b[j] = fragment_b(slice + BM * SLICE_WORDS, wave_column() + j * FN, step);
    UNROLL
    for (int i = 0; i < ROWS_OF_FRAGMENTS; ++i)
      UNROLL
      for (int j = 0; j < COLUMNS_OF_FRAGMENTS; ++j) fragment_multiply(acc[i][j], a[i], b[j]);
  }
}
