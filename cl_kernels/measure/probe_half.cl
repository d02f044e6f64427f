// Measures the most multiply-adds in registers that a device reaches in half. probe_fma of probe.cl does the same in
// float.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#include "measure/sizes.h"

#ifndef VW
#define VW 16
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define halfv JOIN(half, VW)

// Each work-item does rounds * 4 * CHAINS multiply-adds of vectors. The factors keep every chain near 1.
__kernel void probe_half(__global float* restrict y, ulong y_offset, int rounds, float a, float b) {
  halfv chain[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) chain[i] = (halfv)((half)(b * (float)i)) + (half)(float)(get_global_id(0) & 15);
  const halfv va = (halfv)((half)a), vb = (halfv)((half)b);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int i = 0; i < CHAINS; ++i) chain[i] = fma(chain[i], va, vb);
    }
  }
  halfv sum = (halfv)((half)0);
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += chain[i];
  float total = 0;
  const half* lanes = (const half*)&sum;
  for (int lane = 0; lane < VW; ++lane) total += vload_half(lane, lanes);
  y[y_offset + get_global_id(0)] = total;
}
