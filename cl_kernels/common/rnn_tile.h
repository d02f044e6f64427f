// Register tiles of the CPU's recurrent kernels: `m` rows times `v` vectors of sums.
//
//   sums[i * v + j] += sum over k < depth of a[i * a_row + k] * panel[k * v * VW + j * VW …]
//
// The sums live in memory between calls and in registers meanwhile, of which 32 hold 6 x 4 (m <= TILE_ROWS).
#include "common/vector.h"

#ifndef TILE_ROWS
#if VW == 16
#define TILE_ROWS 6
#else
#define TILE_ROWS 3
#endif
#endif

#define DEFINE_TILE(m, v)                                                                              \
  INLINE void tile_##m##x##v(floatv* sums, __global const float* a, long a_row, __global const float* panel, int depth) { \
    floatv acc[m * v];                                                                                \
    _Pragma("unroll") for (int i = 0; i < m * v; ++i) acc[i] = sums[i];                               \
    for (int k = 0; k < depth; ++k) {                                                                 \
      floatv b[v];                                                                                    \
      _Pragma("unroll") for (int j = 0; j < v; ++j) b[j] = ALIGNED_CONST(panel + j * VW);             \
      _Pragma("unroll") for (int i = 0; i < m; ++i) {                                                 \
        const floatv ai = (floatv)(a[i * a_row + k]);                                                 \
        _Pragma("unroll") for (int j = 0; j < v; ++j) acc[i * v + j] = FMA(ai, b[j], acc[i * v + j]); \
      }                                                                                               \
      panel += v * VW;                                                                                \
    }                                                                                                 \
    _Pragma("unroll") for (int i = 0; i < m * v; ++i) sums[i] = acc[i];                               \
  }

// tile_rows_<v>: a tile of any height up to TILE_ROWS.
#if TILE_ROWS == 6
#define DEFINE_TILES(v)                                                                              \
  DEFINE_TILE(1, v)                                                                                  \
  DEFINE_TILE(2, v)                                                                                  \
  DEFINE_TILE(3, v)                                                                                  \
  DEFINE_TILE(4, v)                                                                                  \
  DEFINE_TILE(5, v)                                                                                  \
  DEFINE_TILE(6, v)                                                                                  \
  INLINE void tile_rows_##v(floatv* sums, int rows, __global const float* a, long a_row,             \
                            __global const float* panel, int depth) {                                \
    switch (rows) {                                                                                  \
      case 1: tile_1x##v(sums, a, a_row, panel, depth); break;                                       \
      case 2: tile_2x##v(sums, a, a_row, panel, depth); break;                                       \
      case 3: tile_3x##v(sums, a, a_row, panel, depth); break;                                       \
      case 4: tile_4x##v(sums, a, a_row, panel, depth); break;                                       \
      case 5: tile_5x##v(sums, a, a_row, panel, depth); break;                                       \
      default: tile_6x##v(sums, a, a_row, panel, depth); break;                                      \
    }                                                                                                \
  }
#else
#define DEFINE_TILES(v)                                                                              \
  DEFINE_TILE(1, v)                                                                                  \
  DEFINE_TILE(2, v)                                                                                  \
  DEFINE_TILE(3, v)                                                                                  \
  INLINE void tile_rows_##v(floatv* sums, int rows, __global const float* a, long a_row,             \
                            __global const float* panel, int depth) {                                \
    switch (rows) {                                                                                  \
      case 1: tile_1x##v(sums, a, a_row, panel, depth); break;                                       \
      case 2: tile_2x##v(sums, a, a_row, panel, depth); break;                                       \
      default: tile_3x##v(sums, a, a_row, panel, depth); break;                                      \
    }                                                                                                \
  }
#endif
