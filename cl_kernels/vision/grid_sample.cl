// Reads images and volumes at the places of a grid.
//
//   y[n, c, p]        = sum over q, r, s of wz[q] * wy[r] * wx[s] * x[n, c, az[q], ay[r], ax[s]]
//   dx[n, c, d, h, w] = sum over p, q, r, s with az[q] = d, ay[r] = h and ax[s] = w of wz[q] * wy[r] * wx[s] * dy[n, c, p]
//   dgrid[n, p]       = sum over c, q, r, s of dy[n, c, p] * x[n, c, az[q], ay[r], ax[s]]
//                       * (wz[q] * wy[r] * dwx[s], wz[q] * dwy[r] * wx[s], dwz[q] * wy[r] * wx[s])
//
// where the taps a and the weights w belong to the place grid[n, p] = (across, down, inward). x is (images, channels,
// depth, height, width), and p is below g.points. Images have depth 1, and their places are (across, down).
//
// AXES: 2 images, 3 volumes. x, y and dy are stored as STORED, places and gradients as REAL.
//
//   grid_sample_forward   a work-item makes the elements first … first + chunk - 1 of y, counted as (n, block of
//                         channels, p): an element has `block` channels
//   grid_sample_backward  a work-item owns the rows first … of a channel of dx, `rows` of them, and adds the places from
//                         `begin` to `end` in their order; others may follow in another launch
//   grid_sample_places    a work-item makes `chunk` places of dgrid
#include "common/element.h"
#include "vision/grid_taps.h"
#include "vision/parameters.h"

// The taps of coordinate i of a place.
#define TAPS_OF(place, i, size) taps_of((place)[i], size, g.padding, g.align_corners, g.in_elements)

#if AXES == 3
#define DEEP_TAPS TAPS
#define INWARD(place) TAPS_OF(place, 2, g.depth)
#else
#define DEEP_TAPS 1
#define INWARD(place) only_slice()
static inline Taps only_slice(void) {
  Taps taps;
  taps.at[0] = 0;
  taps.weight[0] = 1.0f;
  taps.slope[0] = 0.0f;
  return taps;
}
#endif

// The index of a row of a volume, counted through all slices. -1 for a row outside of the input.
static inline long row_of(int slice, int row, int height) {
  return slice < 0 || row < 0 ? -1 : (long)slice * height + row;
}

static inline REAL read_tap(__global const STORED* channel, long row, int column, int width) {
  return row < 0 || column < 0 ? (REAL)0 : LOAD(STORED, channel, row * width + column);
}

__kernel void grid_sample_forward(__global const STORED* restrict x, const ulong x_offset,
                                  __global const REAL* restrict grid, const ulong grid_offset,
                                  __global STORED* restrict y, const ulong y_offset, const long elements,
                                  const GridParameters g, const int block, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  const int blocks = (g.channels + block - 1) / block;
  const long volume = (long)g.depth * g.height * g.width;
  for (long i = first; i < end; ++i) {
    const long p = i % g.points;
    const long n = i / g.points / blocks;
    const int begin = (int)(i / g.points % blocks) * block;
    __global const REAL* place = grid + grid_offset + (n * g.points + p) * AXES;
    const Taps across = TAPS_OF(place, 0, g.width);
    const Taps down = TAPS_OF(place, 1, g.height);
    const Taps inward = INWARD(place);
    for (int c = begin; c < min(begin + block, g.channels); ++c) {
      __global const STORED* channel = x + x_offset + (n * g.channels + c) * volume;
      REAL sum = 0.0f;
      for (int q = 0; q < DEEP_TAPS; ++q) {
        REAL slice = 0.0f;
        for (int r = 0; r < TAPS; ++r) {
          REAL row = 0.0f;
          for (int s = 0; s < TAPS; ++s)
            row +=
                across.weight[s] * read_tap(channel, row_of(inward.at[q], down.at[r], g.height), across.at[s], g.width);
          slice += down.weight[r] * row;
        }
        sum += inward.weight[q] * slice;
      }
      STORE(STORED, y, y_offset + (n * g.channels + c) * g.points + p, sum);
    }
  }
}

__kernel void grid_sample_backward(__global const STORED* restrict dy, const ulong dy_offset,
                                   __global const REAL* restrict grid, const ulong grid_offset,
                                   __global REAL* restrict dx, const ulong dx_offset, const long planes,
                                   const GridParameters g, const long rows, const long begin, const long end) {
  const long all_rows = (long)g.depth * g.height;
  const long strips = (all_rows + rows - 1) / rows;
  const long plane = get_global_id(0) / strips;
  if (plane >= planes) return;
  const long top = (long)(get_global_id(0) % strips) * rows;
  const long bottom = min(top + rows, all_rows);
  const long n = plane / g.channels;
  grid += grid_offset + n * g.points * AXES;
  dy += dy_offset + plane * g.points;
  dx += dx_offset + plane * all_rows * g.width;
  for (long p = begin; p < end; ++p) {
    const Taps down = TAPS_OF(grid + p * AXES, 1, g.height);
    const Taps inward = INWARD(grid + p * AXES);
    bool is_mine = false;
    for (int q = 0; q < DEEP_TAPS; ++q)
      for (int r = 0; r < TAPS; ++r) {
        const long row = row_of(inward.at[q], down.at[r], g.height);
        is_mine |= row >= top && row < bottom;
      }
    if (!is_mine) continue;
    const Taps across = TAPS_OF(grid + p * AXES, 0, g.width);
    for (int q = 0; q < DEEP_TAPS; ++q)
      for (int r = 0; r < TAPS; ++r) {
        const long row = row_of(inward.at[q], down.at[r], g.height);
        if (row < top || row >= bottom) continue;
        __global REAL* elements = dx + row * g.width;
        const REAL d = inward.weight[q] * down.weight[r] * LOAD(STORED, dy, p);
        for (int s = 0; s < TAPS; ++s)
          if (across.at[s] >= 0) elements[across.at[s]] += d * across.weight[s];
      }
  }
}

__kernel void grid_sample_places(__global const STORED* restrict dy, const ulong dy_offset,
                                 __global const STORED* restrict x, const ulong x_offset,
                                 __global const REAL* restrict grid, const ulong grid_offset,
                                 __global REAL* restrict dgrid, const ulong dgrid_offset, const long places,
                                 const GridParameters g, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long volume = (long)g.depth * g.height * g.width;
  for (long i = first; i < min(first + chunk, places); ++i) {
    const long n = i / g.points;
    __global const REAL* place = grid + grid_offset + i * AXES;
    const Taps across = TAPS_OF(place, 0, g.width);
    const Taps down = TAPS_OF(place, 1, g.height);
    const Taps inward = INWARD(place);
    REAL sum_across = 0.0f;
    REAL sum_down = 0.0f;
    REAL sum_inward = 0.0f;
    for (int c = 0; c < g.channels; ++c) {
      __global const STORED* channel = x + x_offset + (n * g.channels + c) * volume;
      const REAL d = LOAD(STORED, dy, dy_offset + (n * g.channels + c) * g.points + i % g.points);
      for (int q = 0; q < DEEP_TAPS; ++q)
        for (int r = 0; r < TAPS; ++r) {
          REAL value = 0.0f;
          REAL change = 0.0f;
          for (int s = 0; s < TAPS; ++s) {
            const REAL tap = read_tap(channel, row_of(inward.at[q], down.at[r], g.height), across.at[s], g.width);
            value += across.weight[s] * tap;
            change += across.slope[s] * tap;
          }
          sum_across += d * inward.weight[q] * down.weight[r] * change;
          sum_down += d * inward.weight[q] * down.slope[r] * value;
          sum_inward += d * inward.slope[q] * down.weight[r] * value;
        }
    }
    __global REAL* result = dgrid + dgrid_offset + i * AXES;
    result[0] = sum_across;
    result[1] = sum_down;
#if AXES == 3
    result[2] = sum_inward;
#endif
  }
}
