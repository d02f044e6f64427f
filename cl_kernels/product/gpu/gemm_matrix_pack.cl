// Makes an operand of gemm_matrix_packed.cl from a matrix: rounds it and stores it in the layout of local memory.
// STORAGE says how the matrix is stored (product/gpu/storage.h): as f32 if it is left out.
//
// The operand is stored slice by slice along the depth. A slice has `sides` rows (columns, for B) of 16 words
// (gpu/units/matrix_place.h); `sides` is a multiple of BM. Values past the end of the depth are 0. Rows after the
// last row repeat the last row, and their results are never stored. ALONG_K and `step` are like A_ALONG_K and
// from_a.leading_dimension of gemm_tiled.cl. A work-group makes BM rows of a slice.
#ifndef ALONG_K
#define ALONG_K 1
#endif
#ifndef VEC
#define VEC 1
#endif
#include "product/gpu/matrix_reader.h"

#ifndef STORAGE
#define STORAGE STORAGE_F32
#endif

TILE_KERNEL void gemm_matrix_pack(__global const char* restrict x, const ulong x_offset,
                                  __global uint* restrict packed, const ulong packed_offset, const long step, const long count, const long depth,
                                  const long sides) {
  __local StageWord panel[BM * SLICE_WORDS] __attribute__((aligned(128)));
  const long panels = sides / BM, slice = get_group_id(0) / panels;
  const long side = (get_group_id(0) - slice * panels) * BM;
  const int rest = (int)min((long)SLICE, depth - slice * SLICE);
  x += (x_offset + slice * SLICE * (ALONG_K ? 1 : step)) * STORED_BYTES(STORAGE);
  const MatrixReader reader = matrix_begin(x, step, side, count, rest, BM, ALONG_K, STORAGE);
  float values[LOADS(BM)];
  matrix_load(&reader, values, BM, STORAGE);
  matrix_end(values, rest, BM, ALONG_K);
  matrix_keep(values, panel, BM, ALONG_K);
  barrier(CLK_LOCAL_MEM_FENCE);
  __global uint4* to = (__global uint4*)(packed + packed_offset + (slice * sides + side) * SLICE_WORDS);
  for (int i = tile_item(); i < BM * SLICE_WORDS / 4; i += ITEMS) to[i] = ((__local const uint4*)panel)[i];
}
