// c (m, n) = a (m, k) b (k, n), row-major. A work-group of 16 × 16 computes a tile of 64 × 64, each work-item 4 × 4 of
// it, from slices of a and b in local memory.
#define TILE 64
#define DEPTH 16
#define GROUP 16
#define PER_ITEM (TILE / GROUP)

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void sgemm(__global const float* restrict a,
                                                                           __global const float* restrict b,
                                                                           __global float* restrict c, int m, int n, int k) {
  __local float a_slice[DEPTH][TILE + 1];  // Transposed; the odd pitch keeps its columns in different banks.
  __local float b_slice[DEPTH][TILE];
  const int x = get_local_id(0), y = get_local_id(1), item = y * GROUP + x;
  const int row0 = get_group_id(1) * TILE, column0 = get_group_id(0) * TILE;
  float sum[PER_ITEM][PER_ITEM] = {{0}};

  for (int depth0 = 0; depth0 < k; depth0 += DEPTH) {
    for (int i = item; i < TILE * DEPTH; i += GROUP * GROUP) {
      const int row = i / DEPTH, depth = i % DEPTH;
      const bool inside = row0 + row < m && depth0 + depth < k;
      a_slice[depth][row] = inside ? a[(long)(row0 + row) * k + depth0 + depth] : 0.0f;
    }
    for (int i = item; i < TILE * DEPTH; i += GROUP * GROUP) {
      const int depth = i / TILE, column = i % TILE;
      const bool inside = depth0 + depth < k && column0 + column < n;
      b_slice[depth][column] = inside ? b[(long)(depth0 + depth) * n + column0 + column] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int depth = 0; depth < DEPTH; ++depth) {
      float left[PER_ITEM], right[PER_ITEM];
      for (int i = 0; i < PER_ITEM; ++i) left[i] = a_slice[depth][y + i * GROUP];
      for (int j = 0; j < PER_ITEM; ++j) right[j] = b_slice[depth][x + j * GROUP];
      for (int i = 0; i < PER_ITEM; ++i)
        for (int j = 0; j < PER_ITEM; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < PER_ITEM; ++i)
    for (int j = 0; j < PER_ITEM; ++j) {
      const int row = row0 + y + i * GROUP, column = column0 + x + j * GROUP;
      if (row < m && column < n) c[(long)row * n + column] = sum[i][j];
    }
}
