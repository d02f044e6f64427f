// Measures the highest speed of a device, so that other speeds can be given as a share of it. It measures
// multiply-adds in registers, arrays in memory, and launches.
#include "common/vector.h"
#include "measure/sizes.h"

// The number of vectors that a work-item of the memory probes moves.
#ifndef VECTORS
#define VECTORS 8192
#endif

// Stores that bypass the caches, if the compiler has such stores. A kernel that writes more than the caches hold would
// use them.
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define STREAM(v, p) __builtin_nontemporal_store(v, p)
#endif
#endif
#ifndef STREAM
#define STREAM(v, p) (*(p) = (v))
#endif

__kernel void probe_empty(int unused) {}

// Each work-item does rounds * 4 * CHAINS multiply-adds of vectors.
__kernel void probe_fma(__global float* restrict y, ulong y_offset, int rounds, float a, float b) {
  floatv chain[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) chain[i] = (floatv)(b * (float)i) + (float)get_global_id(0);
  const floatv va = (floatv)(a), vb = (floatv)(b);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int i = 0; i < CHAINS; ++i) chain[i] = FMA(chain[i], va, vb);
    }
  }
  floatv sum = (floatv)(0.0f);
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += chain[i];
  vstorev(sum, 0, y + y_offset + get_global_id(0) * VW);
}

// With INTERLEAVED (for GPUs), work-item i takes the vectors i, i + items, … where `items` is the number of work-items.
// Otherwise it takes VECTORS successive vectors.
#ifdef INTERLEAVED
#define FIRST ((long)get_global_id(0))
#define STEP ((long)get_global_size(0))
#else
#define FIRST ((long)get_global_id(0) * VECTORS)
#define STEP 1
#endif
#define EACH_VECTOR(at, j) for (long j = 0, at = FIRST; j < VECTORS; ++j, at += STEP)

__kernel void probe_copy(__global const float* restrict x, ulong x_offset, __global float* restrict y, ulong y_offset) {
  __global const floatv* from = (__global const floatv*)(x + x_offset);
  __global floatv* to = (__global floatv*)(y + y_offset);
  EACH_VECTOR(at, j) to[at] = from[at];
}

__kernel void probe_copy_stream(__global const float* restrict x, ulong x_offset, __global float* restrict y,
                                ulong y_offset) {
  __global const floatv* from = (__global const floatv*)(x + x_offset);
  __global floatv* to = (__global floatv*)(y + y_offset);
  EACH_VECTOR(at, j) STREAM(from[at], to + at);
}

__kernel void probe_triad(__global const float* restrict a, ulong a_offset, __global const float* restrict x,
                          ulong x_offset, __global float* restrict y, ulong y_offset, float s) {
  __global const floatv* from_a = (__global const floatv*)(a + a_offset);
  __global const floatv* from_x = (__global const floatv*)(x + x_offset);
  __global floatv* to = (__global floatv*)(y + y_offset);
  EACH_VECTOR(at, j) to[at] = from_a[at] + s * from_x[at];
}

__kernel void probe_triad_stream(__global const float* restrict a, ulong a_offset, __global const float* restrict x,
                                 ulong x_offset, __global float* restrict y, ulong y_offset, float s) {
  __global const floatv* from_a = (__global const floatv*)(a + a_offset);
  __global const floatv* from_x = (__global const floatv*)(x + x_offset);
  __global floatv* to = (__global floatv*)(y + y_offset);
  EACH_VECTOR(at, j) STREAM(from_a[at] + s * from_x[at], to + at);
}
