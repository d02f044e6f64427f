// A few rows of STORED of a product with a packed weight: the sums of some vectors of columns.
//
//   tile[i * v + c] = sum over k of a_i[k] * b_c[k]        a_i = from[i], with elements `step` apart
//
// b_c is vector c of the columns in a panel [k][NR] of gemm_pack. All rows share each load of b. Even and odd k are
// summed separately in every tile, because one chain of additions would be slower than memory. So the sums have the
// same bits in every tile.
#include "product/cpu/gemm_store.h"
#include "product/cpu/prefetch.h"
#include "product/sizes.h"

// The number of rows that share each load of b.
#ifndef TILE_ROWS
#define TILE_ROWS SKINNY_ROWS
#endif

// The type of the elements in panels. Panels of halves take half the bytes of panels of floats.
#ifdef PACKED
#define LOAD_PACKED(p) LOAD_MANY(PACKED, p)
#else
#define PACKED float
#define LOAD_PACKED(p) ALIGNED_CONST(p)
#define PACKED_IS_FLOAT
#endif

// Asks for two rows of a panel of halves, 2048 bytes ahead. Without this, a row times bf16 takes 1.3 times as long with
// AVX2. Panels of floats do not gain.
INLINE void prefetch_panel(__global const PACKED* b) {
#ifndef PACKED_IS_FLOAT
#pragma unroll
  for (int byte = 0; byte < 2 * NR * (int)sizeof(PACKED); byte += 64) PREFETCH((__global const uchar*)b + 2048 + byte);
#endif
}

// Defines the product of m rows with v vectors.
#define DEFINE_SKINNY(NAME, m, v)                                                                                     \
  INLINE void NAME(floatv tile[(m) * (v)], __global const STORED* const from[m], long step, __global const PACKED* b, \
                   int k) {                                                                                           \
    floatv even[(m) * (v)], odd[(m) * (v)];                                                                           \
    _Pragma("unroll") for (int i = 0; i < (m) * (v); ++i) even[i] = odd[i] = (floatv)(0.0f);                          \
    NO_UNROLL                                                                                                         \
    for (int at = 0; at + 2 <= k; at += 2, b += 2 * NR) {                                                             \
      if ((v) == NV) prefetch_panel(b);                                                                               \
      _Pragma("unroll") for (int parity = 0; parity < 2; ++parity) {                                                  \
        floatv* const sums = parity == 0 ? even : odd;                                                                \
        _Pragma("unroll") for (int i = 0; i < m; ++i) {                                                               \
          const floatv a = (floatv)(LOAD(STORED, from[i], (at + parity) * step));                                     \
          _Pragma("unroll") for (int c = 0; c < v; ++c)                                                               \
            sums[i * (v) + c] = FMA(a, LOAD_PACKED(b + parity * NR + c * VW), sums[i * (v) + c]);                     \
        }                                                                                                             \
      }                                                                                                               \
    }                                                                                                                 \
    _Pragma("unroll") for (int i = 0; i < m; ++i) {                                                                   \
      const floatv last = (floatv)(k % 2 != 0 ? LOAD(STORED, from[i], (k - 1) * step) : 0.0f);                        \
      _Pragma("unroll") for (int c = 0; c < v; ++c) {                                                                 \
        floatv* const sum = &even[i * (v) + c];                                                                       \
        if (k % 2 != 0) *sum = FMA(last, LOAD_PACKED(b + c * VW), *sum);                                              \
        tile[i * (v) + c] = *sum + odd[i * (v) + c];                                                                  \
      }                                                                                                               \
    }                                                                                                                 \
  }

DEFINE_SKINNY(skinny_rows, TILE_ROWS, 1)
DEFINE_SKINNY(skinny_row, 1, 1)
DEFINE_SKINNY(skinny_row_of_panel, 1, NV)

// The sums of TILE_ROWS rows for one vector of columns. If `rows` is 1, only the first sum is computed.
INLINE void skinny_multiply(floatv tile[TILE_ROWS], __global const STORED* const from[TILE_ROWS], int rows, long step,
                            __global const PACKED* b, int k) {
  if (rows == 1)
    skinny_row(tile, from, step, b, k);
  else
    skinny_rows(tile, from, step, b, k);
}

// The vectors whose sums fit into registers with those of TILE_ROWS rows: all of a panel with AVX-512.
#if VW == 16
#define SKINNY_VECTORS NV
DEFINE_SKINNY(skinny_rows_of_panel, TILE_ROWS, NV)
#else
#define SKINNY_VECTORS 1
#endif

// The same for all vectors of a panel. If SKINNY_VECTORS is 1, `rows` must be 1.
INLINE void skinny_multiply_panel(floatv tile[TILE_ROWS * NV], __global const STORED* const from[TILE_ROWS], int rows,
                                  long step, __global const PACKED* b, int k) {
#if VW == 16
  if (rows > 1) {
    skinny_rows_of_panel(tile, from, step, b, k);
    return;
  }
#endif
  skinny_row_of_panel(tile, from, step, b, k);
}
