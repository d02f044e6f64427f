// dst[b, i, j] = src[b, i, j], where dst is contiguous along j and src is contiguous along i. Elements are only
// moved, as MOVED. The host defines it if it is not float: a whole number with as many bytes as an element.
//
//   dst[b, i, j] at dst_batch(b) + i * dst_step + j,  src[b, i, j] at src_batch(b) + i + j * src_step
//
// b counts the positions along the remaining axes, outermost axis first. A tile of elements is read along i and written
// along j.
//
// squares  CPU: a work-item takes `chunk` tiles of 4 VW x VW elements. It transposes each tile in registers, square by
//          square. So it reads four vectors from each memory page of src.
// tiles    GPU: a work-group of T x LINES items takes one tile of T x T through local memory. A row of local
//          memory has one column more than the tile, so that both a row and a column of the tile use different banks.
#ifndef VW
#define VW 16
#endif

#ifndef MOVED
#define MOVED float
#endif

#include "layout/sizes.h"
#include "layout/transpose.h"

// The offset of batch `number`. Numbers have 32 bits, because GPUs divide 32 bits several times as fast as 64 bits. 32
// bits are enough, because 2^32 tiles would fill 2^32 cache lines. No axis of the batch is longer than the number of
// tiles. The loop is unrolled, so that every index into the lists is a constant.
long position(const long8 shape, const long8 strides, const int rank, uint number) {
  long size[8], stride[8];
  vstore8(shape, 0, size);
  vstore8(strides, 0, stride);
  long at = 0;
#pragma unroll
  for (int d = 7; d >= 0; --d) {
    if (d < rank) {
      const uint rest = number / (uint)size[d];
      at += (number - rest * (uint)size[d]) * stride[d];
      number = rest;
    }
  }
  return at;
}

#define PARAMETERS                                                                                          \
  __global const MOVED *restrict src, const ulong src_offset, __global MOVED *restrict dst,                 \
      const ulong dst_offset, const long8 batch_shape, const long8 src_batch, const long8 dst_batch,        \
      const int batch_rank, const long rows, const long columns, const long src_step, const long dst_step
// Finds tile `number` of H x W elements. `down` and `across` are the numbers of tiles along i and j.
#define FIND_TILE(H, W, number)                                                       \
  const uint down = (uint)((ulong)(rows + H - 1) / (H)), across = (uint)((ulong)(columns + W - 1) / (W)); \
  const uint tile_line = number / across, b = tile_line / down;                        \
  const long i = (long)(tile_line - b * down) * (H), j = (long)(number - tile_line * across) * (W); \
  __global const MOVED* from = src + src_offset + position(batch_shape, src_batch, batch_rank, b) + i + j * src_step; \
  __global MOVED* to = dst + dst_offset + position(batch_shape, dst_batch, batch_rank, b) + i * dst_step + j;

__kernel void squares(PARAMETERS, const long tiles, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, tiles);
  for (long tile = first; tile < end; ++tile) {
    FIND_TILE(4 * VW, VW, (uint)tile)
    const int height = min(rows - i, (long)(4 * VW)), width = min(columns - j, (long)VW);
    int done = 0;
    if (width == VW) {
      for (; done + VW <= height; done += VW) {
        movedv square[VW];
#pragma unroll
        for (int k = 0; k < VW; ++k) square[k] = vloadv(0, from + done + k * src_step);
        transpose_square(square);
#pragma unroll
        for (int k = 0; k < VW; ++k) vstorev(square[k], 0, to + (done + k) * dst_step);
      }
    }
    for (int r = done; r < height; ++r)
      for (int c = 0; c < width; ++c) to[r * dst_step + c] = from[r + c * src_step];
  }
}

#define T TRANSPOSE_TILE
#ifndef LINES
#define LINES 8
#endif

__kernel __attribute__((reqd_work_group_size(T, LINES, 1)))
void tiles(PARAMETERS) {
  __local MOVED tile[T][T + 1];
  FIND_TILE(T, T, (uint)get_group_id(0))
  const int x = get_local_id(0), line = get_local_id(1);
  for (int c = line; c < T; c += LINES)
    if (i + x < rows && j + c < columns) tile[c][x] = from[x + c * src_step];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = line; r < T; r += LINES)
    if (i + r < rows && j + x < columns) to[r * dst_step + x] = tile[x][r];
}
