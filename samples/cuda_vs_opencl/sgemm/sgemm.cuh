// c (m, n) = a (m, k) b (k, n), row-major. A block of 16 × 16 threads computes a tile of 64 × 64, each thread 4 × 4 of
// it, from slices of a and b in shared memory.
#pragma once

constexpr int tile = 64, depth_of_slice = 16, threads = 16, per_thread = tile / threads;

__global__ void __launch_bounds__(threads* threads)
    sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ float a_slice[depth_of_slice]
                          [tile + 1];  // Transposed; the odd pitch keeps its columns in different banks.
  __shared__ float b_slice[depth_of_slice][tile];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * threads + x;
  const int row0 = blockIdx.y * tile, column0 = blockIdx.x * tile;
  float sum[per_thread][per_thread] = {};

  for (int depth0 = 0; depth0 < k; depth0 += depth_of_slice) {
    for (int i = thread; i < tile * depth_of_slice; i += threads * threads) {
      const int row = i / depth_of_slice, depth = i % depth_of_slice;
      const bool inside = row0 + row < m && depth0 + depth < k;
      a_slice[depth][row] = inside ? a[static_cast<long>(row0 + row) * k + depth0 + depth] : 0.0f;
    }
    for (int i = thread; i < tile * depth_of_slice; i += threads * threads) {
      const int depth = i / tile, column = i % tile;
      const bool inside = depth0 + depth < k && column0 + column < n;
      b_slice[depth][column] = inside ? b[static_cast<long>(depth0 + depth) * n + column0 + column] : 0.0f;
    }
    __syncthreads();
    for (int depth = 0; depth < depth_of_slice; ++depth) {
      float left[per_thread], right[per_thread];
      for (int i = 0; i < per_thread; ++i) left[i] = a_slice[depth][y + i * threads];
      for (int j = 0; j < per_thread; ++j) right[j] = b_slice[depth][x + j * threads];
      for (int i = 0; i < per_thread; ++i)
        for (int j = 0; j < per_thread; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < per_thread; ++i)
    for (int j = 0; j < per_thread; ++j) {
      const int row = row0 + y + i * threads, column = column0 + x + j * threads;
      if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum[i][j];
    }
}
