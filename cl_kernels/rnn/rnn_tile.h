// Register tiles of the CPU's recurrent kernels: up to TILE_ROWS rows times `v` vectors of sums.
//
//   sums[i * v + j] += sum over k < depth of a[i * a_row + k] * panel[k * v * VW + j * VW …]
//
// The sums are in memory between calls and in registers during a call. 32 registers hold 6 x 4 sums. Tiles have only a
// few heights, to save compile time. For other heights the next larger tile is used. It computes the last row again,
// into sums that nobody reads.
#include "common/vector.h"

#if VW == 16
#define TILE_ROWS 6
#else
#define TILE_ROWS 3
#endif

#define DEFINE_TILE(m, v)                                                                                              \
  INLINE void tile_##m##x##v(floatv* sums, int rows, __global const float* a, long a_row, __global const float* panel, \
                             int depth) {                                                                              \
    floatv acc[m * v];                                                                                                 \
    __global const float* row[m];                                                                                      \
    _Pragma("unroll") for (int i = 0; i < m * v; ++i) acc[i] = sums[i];                                                \
    _Pragma("unroll") for (int i = 0; i < m; ++i) row[i] = a + min(i, rows - 1) * a_row;                               \
    NO_UNROLL                                                                                                          \
    for (int k = 0; k < depth; ++k) {                                                                                  \
      floatv b[v];                                                                                                     \
      _Pragma("unroll") for (int j = 0; j < v; ++j) b[j] = ALIGNED_CONST(panel + j * VW);                              \
      _Pragma("unroll") for (int i = 0; i < m; ++i) {                                                                  \
        const floatv ai = (floatv)(row[i][k]);                                                                         \
        _Pragma("unroll") for (int j = 0; j < v; ++j) acc[i * v + j] = FMA(ai, b[j], acc[i * v + j]);                  \
      }                                                                                                                \
      panel += v * VW;                                                                                                 \
    }                                                                                                                  \
    _Pragma("unroll") for (int i = 0; i < m * v; ++i) sums[i] = acc[i];                                                \
  }

// tile_rows_<v>: a tile of 1 to TILE_ROWS rows.
#if TILE_ROWS == 6
#define DEFINE_TILES_(v)                                                                                              \
  DEFINE_TILE(1, v)                                                                                                   \
  DEFINE_TILE(2, v)                                                                                                   \
  DEFINE_TILE(4, v)                                                                                                   \
  DEFINE_TILE(6, v)                                                                                                   \
  INLINE void tile_rows_##v(floatv* sums, int rows, __global const float* a, long a_row, __global const float* panel, \
                            int depth) {                                                                              \
    if (rows > 4)                                                                                                     \
      tile_6x##v(sums, rows, a, a_row, panel, depth);                                                                 \
    else if (rows > 2)                                                                                                \
      tile_4x##v(sums, rows, a, a_row, panel, depth);                                                                 \
    else if (rows > 1)                                                                                                \
      tile_2x##v(sums, rows, a, a_row, panel, depth);                                                                 \
    else                                                                                                              \
      tile_1x##v(sums, rows, a, a_row, panel, depth);                                                                 \
  }
#else
#define DEFINE_TILES_(v)                                                                                              \
  DEFINE_TILE(1, v)                                                                                                   \
  DEFINE_TILE(3, v)                                                                                                   \
  INLINE void tile_rows_##v(floatv* sums, int rows, __global const float* a, long a_row, __global const float* panel, \
                            int depth) {                                                                              \
    if (rows > 1)                                                                                                     \
      tile_3x##v(sums, rows, a, a_row, panel, depth);                                                                 \
    else                                                                                                              \
      tile_1x##v(sums, rows, a, a_row, panel, depth);                                                                 \
  }
#endif
#define DEFINE_TILES(v) DEFINE_TILES_(v)  // Expands v first, so that v may be a macro.
