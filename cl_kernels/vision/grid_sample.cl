// Reads images at the places of a grid.
//
//   y[n, c, p]     = sum over r, s of wy[r] * wx[s] * x[n, c, ay[r], ax[s]]
//   dx[n, c, h, w] = sum over p, r, s with ay[r] = h and ax[s] = w of wy[r] * wx[s] * dy[n, c, p]
//   dgrid[n, p]    = sum over c, r, s of dy[n, c, p] * x[n, c, ay[r], ax[s]] * (wy[r] * dwx[s], dwy[r] * wx[s])
//
// where the taps a and the weights w belong to the place grid[n, p] = (across, down). x is (images, channels, height,
// width), p one of `points` places.
//
//   grid_sample_forward   a work-item makes the elements first … first + chunk - 1 of y, counted as (n, block of
//                         channels, p): an element has `block` channels
//   grid_sample_backward  a work-item owns the rows first … of a plane of dx, `rows` of them, and adds the places from
//                         `begin` to `end` in their order; others may follow in another launch
//   grid_sample_places    a work-item makes `chunk` places of dgrid
#include "vision/grid_taps.h"

#define SIZES                                                                                     \
  const int channels, const int height, const int width, const long points, const int padding,     \
      const int align_corners, const int in_elements

static inline float read_tap(__global const float* plane, int row, int column, int width) {
  return row < 0 || column < 0 ? 0.0f : plane[(long)row * width + column];
}

__kernel void grid_sample_forward(__global const float* restrict x, const ulong x_offset,
                                  __global const float* restrict grid, const ulong grid_offset,
                                  __global float* restrict y, const ulong y_offset, const long elements, SIZES,
                                  const int block, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  const int blocks = (channels + block - 1) / block;
  const long area = (long)height * width;
  for (long i = first; i < end; ++i) {
    const long p = i % points;
    const long n = i / points / blocks;
    const int begin = (int)(i / points % blocks) * block;
    __global const float* place = grid + grid_offset + (n * points + p) * 2;
    const Taps across = taps_of(place[0], width, padding, align_corners, in_elements);
    const Taps down = taps_of(place[1], height, padding, align_corners, in_elements);
    for (int c = begin; c < min(begin + block, channels); ++c) {
      __global const float* plane = x + x_offset + (n * channels + c) * area;
      float sum = 0.0f;
      for (int r = 0; r < TAPS; ++r) {
        float row = 0.0f;
        for (int s = 0; s < TAPS; ++s) row += across.weight[s] * read_tap(plane, down.at[r], across.at[s], width);
        sum += down.weight[r] * row;
      }
      y[y_offset + (n * channels + c) * points + p] = sum;
    }
  }
}

__kernel void grid_sample_backward(__global const float* restrict dy, const ulong dy_offset,
                                   __global const float* restrict grid, const ulong grid_offset,
                                   __global float* restrict dx, const ulong dx_offset, const long planes, SIZES,
                                   const int rows, const long begin, const long end) {
  const int strips = (height + rows - 1) / rows;
  const long plane = get_global_id(0) / strips;
  if (plane >= planes) return;
  const int top = (int)(get_global_id(0) % strips) * rows;
  const int bottom = min(top + rows, height);
  const long n = plane / channels;
  grid += grid_offset + n * points * 2;
  dy += dy_offset + plane * points;
  dx += dx_offset + plane * height * width;
  for (long p = begin; p < end; ++p) {
    const Taps down = taps_of(grid[2 * p + 1], height, padding, align_corners, in_elements);
    bool is_mine = false;
    for (int r = 0; r < TAPS; ++r) is_mine |= down.at[r] >= top && down.at[r] < bottom;
    if (!is_mine) continue;
    const Taps across = taps_of(grid[2 * p], width, padding, align_corners, in_elements);
    for (int r = 0; r < TAPS; ++r) {
      if (down.at[r] < top || down.at[r] >= bottom) continue;
      __global float* row = dx + (long)down.at[r] * width;
      const float d = down.weight[r] * dy[p];
      for (int s = 0; s < TAPS; ++s)
        if (across.at[s] >= 0) row[across.at[s]] += d * across.weight[s];
    }
  }
}

__kernel void grid_sample_places(__global const float* restrict dy, const ulong dy_offset,
                                 __global const float* restrict x, const ulong x_offset,
                                 __global const float* restrict grid, const ulong grid_offset,
                                 __global float* restrict dgrid, const ulong dgrid_offset, const long places, SIZES,
                                 const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long area = (long)height * width;
  for (long i = first; i < min(first + chunk, places); ++i) {
    const long n = i / points;
    const Taps across = taps_of(grid[grid_offset + 2 * i], width, padding, align_corners, in_elements);
    const Taps down = taps_of(grid[grid_offset + 2 * i + 1], height, padding, align_corners, in_elements);
    float sum_across = 0.0f;
    float sum_down = 0.0f;
    for (int c = 0; c < channels; ++c) {
      __global const float* plane = x + x_offset + (n * channels + c) * area;
      const float d = dy[dy_offset + (n * channels + c) * points + i % points];
      for (int r = 0; r < TAPS; ++r) {
        float value = 0.0f;
        float change = 0.0f;
        for (int s = 0; s < TAPS; ++s) {
          const float tap = read_tap(plane, down.at[r], across.at[s], width);
          value += across.weight[s] * tap;
          change += across.slope[s] * tap;
        }
        sum_across += d * down.weight[r] * change;
        sum_down += d * down.slope[r] * value;
      }
    }
    dgrid[dgrid_offset + 2 * i] = sum_across;
    dgrid[dgrid_offset + 2 * i + 1] = sum_down;
  }
}
