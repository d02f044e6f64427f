// The gradient dx of a pool, for kernels of CPUs in which a work-item owns a plane and adds to it. Unless elements are
// floats, the sums of a plane are in scratch memory of the item until the plane is complete.
#include "common/element.h"
#include "common/vector.h"

#define PLANE_SUMS_IN_PLACE_float 1
#define PLANE_SUMS_IN_PLACE_half 0
#define PLANE_SUMS_IN_PLACE_bfloat 0
#define PLANE_SUMS_IN_PLACE OF_TYPE(PLANE_SUMS_IN_PLACE_, STORED)

#if PLANE_SUMS_IN_PLACE
#define PLANE_SUMS_PARAMETERS __global STORED *restrict dx, const ulong dx_offset
#define PLANE_SUMS_ARGUMENTS dx, dx_offset
#define PLANE_SUMS(plane, item, area) (plane)
#else
#define PLANE_SUMS_PARAMETERS \
  __global STORED *restrict dx, const ulong dx_offset, __global float *restrict sums, const ulong sums_offset
#define PLANE_SUMS_ARGUMENTS dx, dx_offset, sums, sums_offset
#define PLANE_SUMS(plane, item, area) (sums + sums_offset + (item) * (area))
#endif

static inline void clear_sums(__global float* sums, int area) {
  int i = 0;
  NO_UNROLL
  for (; i + VW <= area; i += VW) vstorev((floatv)(0.0f), 0, sums + i);
  NO_UNROLL
  for (; i < area; ++i) sums[i] = 0.0f;
}

// Rounds the sums to the elements of the plane, unless they are these elements.
static inline void store_sums(__global const float* sums, int area, __global STORED* plane) {
#if !PLANE_SUMS_IN_PLACE
  int i = 0;
  NO_UNROLL
  for (; i + VW <= area; i += VW) VSTORE(STORED, plane + i, vloadv(0, sums + i));
  NO_UNROLL
  for (; i < area; ++i) STORE(STORED, plane, i, sums[i]);
#endif
}
