// Gradient of 3 x 3 kernels, stride 1, by Winograd's minimal filtering F(3 x 3, 4 x 4), for CPUs, in fp32. x and dy
// are of STORED, dw is of RESULT:
//
//   dw[k][c] = A' [sum over tiles of (G e G') . (B' d B)] A      e: a 4 x 4 piece of dy[k], d: the 6 x 6 piece of x[c]
//   that e depends on
//
// This takes 36 products a tile. The direct sum takes 144. B and the letters are those of
// cl_kernels/conv/cpu/conv2d_winograd.cl. e takes the place of the kernel in that formula, so G has four columns and A
// has three:
//
//        | 1/CD   0    0     0 |
//        |   F   aF   CF   aCF |        | 1   1   1   1   1   0 |
//    G = |   F  -aF   CF  -aCF |   A' = | 0   a  -a   b  -b   0 |
//        |   H   bH   DH   bDH |        | 0   C   C   D   D   1 |
//        |   H  -bH   DH  -bDH |
//        |   0    0    0     1 |
//
// winograd_pixels    Copies x and dy to (images, ceil(channels / VW), rows, columns, VW), with zeros around them for
//                    the tiles at the edges. A vector holds one pixel of VW channels, so any width of the image is
//                    fine.
// winograd_gradient  A work-item is a work-group of its own and takes units one after another. A unit is a part of the
//                    tiles, a block of block_k channels of dy and a block of block_c channels of x. The item takes
//                    `chunk` tiles at a time. It makes U[36][chunk][block_k] = G e G' and V[36][chunk][block_c] = B' d
//                    B in its slice of `scratch` and adds the 36 products to M[36][block_k][block_c]. At last it writes
//                    A' M A to dw, or to the part's sum of dw.
// winograd_add_parts Adds up the sums of the parts, in order.
#include "product/cpu/gemm_tile.h"
#include "common/lanes.h"
#include "common/transpose_memory.h"
#include "conv/parameters.h"
#include "conv/cpu/winograd_lanes.h"

#ifndef RESULT
#define RESULT float
#endif

CPU_KERNEL void winograd_pixels(__global const STORED* restrict x, const ulong x_offset,
                                __global float* restrict pixels, const ulong pixels_offset, const PaddedParameters p) {
  const int channels = p.channels, width = p.width, rows = p.rows, columns = p.columns;
  const int blocks = (channels + VW - 1) / VW, plane = p.height * width;
  const long units = (long)p.images * blocks;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int channel = (int)(unit % blocks) * VW, lanes = min(VW, channels - channel);
    __global const STORED* from = x + x_offset + (unit / blocks * channels + channel) * plane;
    __global float* to = pixels + pixels_offset + unit * rows * columns * VW;
    NO_UNROLL
    for (int h = 0; h < rows; ++h) {  // The zeros around the image.
      const bool inside = h >= p.pad_h && h < p.pad_h + p.height;
      NO_UNROLL
      for (int w = 0; w < columns; ++w) {
        if (inside && w == p.pad_w) w += width;
        if (w < columns) ALIGNED(to + ((long)h * columns + w) * VW) = (floatv)(0.0f);
      }
    }
    NO_UNROLL
    for (int at = 0; at < plane; at += VW) {
      const int first = plane < VW ? 0 : min(at, plane - VW);
      floatv squares[2][VW];
      NO_UNROLL
      for (int i = 0; i < VW; ++i) {
        __global const STORED* line = from + (long)min(i, lanes - 1) * plane + first;
        const floatv pixel = plane >= VW ? LOAD_MANY(STORED, line) : load_elements(line, plane);
        squares[0][i] = i < lanes ? pixel : (floatv)(0.0f);
      }
      const int square = transpose_private(squares);
      const int h = first / width;
      int w = first % width;
      __global float* pixel = to + ((long)(h + p.pad_h) * columns + w + p.pad_w) * VW;
      NO_UNROLL
      for (int i = 0; i < min(VW, plane); ++i, pixel += VW) {
        ALIGNED(pixel) = squares[square][i];
        if (++w == width) {
          w = 0;
          pixel += (columns - width) * VW;
        }
      }
    }
  }
}

typedef struct {
  int channels, outputs, tiles_h, tiles_w, block_k, block_c;
  long u_step, v_step, m_step;  // Distances between positions of U, V and M.
} Problem;

// The block of channels and the block of outputs that a unit of work takes.
typedef struct {
  int first_c, first_k, vectors_c, vectors_k;
} Block;

#define VECTORS(channels) (((channels) + VW - 1) / VW)  // Vectors of a pixel.

// Computes U and V of the tiles first … first + count - 1.
INLINE void transform_tiles(__global float* u, __global float* v, __global const float* x, __global const float* dy,
                            const Problem* p, const Block* block, long first, int count) {
  const int x_columns = 4 * p->tiles_w + 2, dy_columns = 4 * p->tiles_w;
  const long x_plane = (4L * p->tiles_h + 2) * x_columns * VW, dy_plane = 4L * p->tiles_h * dy_columns * VW;
  NO_UNROLL
  for (int t = 0; t < count; ++t) {
    const long row = (first + t) / p->tiles_w, image = row / p->tiles_h;
    const int tile_w = (int)(first + t - row * p->tiles_w), tile_h = (int)(row - image * p->tiles_h);
    __global const float* from = x + (image * VECTORS(p->channels) + block->first_c / VW) * x_plane +
                                 (4L * tile_h * x_columns + 4 * tile_w) * VW;
    NO_UNROLL
    for (int c = 0; c < block->vectors_c; ++c, from += x_plane)
      transform_piece(v + (long)t * p->block_c + c * VW, p->v_step, from, x_columns * VW, VW, 6);
    from = dy + (image * VECTORS(p->outputs) + block->first_k / VW) * dy_plane +
           (4L * tile_h * dy_columns + 4 * tile_w) * VW;
    NO_UNROLL
    for (int k = 0; k < block->vectors_k; ++k, from += dy_plane)
      transform_piece(u + (long)t * p->block_k + k * VW, p->u_step, from, dy_columns * VW, VW, 4);
  }
}

// Adds the products of `count` tiles to M. If `begun` is false, M has no values yet, and the products are stored
// instead.
INLINE void add_products(__global float* m, __global const float* u, __global const float* v, const Problem* p,
                         const Block* block, int count, bool begun) {
  const int panels_c = (block->vectors_c + NV - 1) / NV;
  const int panels_k = (min(p->block_k, p->outputs - block->first_k) + MR - 1) / MR;
  NO_UNROLL
  for (int position = 0; position < 36; ++position) {
    NO_UNROLL
    for (int panel = 0; panel < panels_k; ++panel) {
      NO_UNROLL
      for (int column = 0; column < panels_c; ++column) {
        __global float* sums = m + position * p->m_step + (long)panel * MR * p->block_c + column * NR;
        floatv acc[MR * NV];
        tile_clear(acc);
        tile_multiply(acc, u + position * p->u_step + panel * MR, p->block_k, v + position * p->v_step + column * NR,
                      p->block_c, count);
        if (begun) {  // Sums of sums have smaller rounding errors.
#pragma unroll
          for (int i = 0; i < MR * NV; ++i) acc[i] += ALIGNED_CONST(sums + i / NV * p->block_c + i % NV * VW);
        }
#pragma unroll
        for (int i = 0; i < MR * NV; ++i) ALIGNED(sums + i / NV * p->block_c + i % NV * VW) = acc[i];
      }
    }
  }
}

// A' M A of VW kernels: tap (i, j) of all kernels goes to taps[(i * 3 + j) * VW …]. M's positions are m_step apart.
INLINE void kernels_of_sums(float taps[9 * VW], __global const float* m, long m_step) {
  floatv half_done[18];
  NO_UNROLL
  for (int j = 0; j < 6; ++j) {
    floatv p[6];
#pragma unroll
    for (int i = 0; i < 6; ++i) p[i] = ALIGNED_CONST(m + (i * 6 + j) * m_step);
    kernel_gradient(p);
#pragma unroll
    for (int i = 0; i < 3; ++i) half_done[i * 6 + j] = p[i];
  }
  NO_UNROLL
  for (int i = 0; i < 3; ++i) {
    floatv p[6];
#pragma unroll
    for (int j = 0; j < 6; ++j) p[j] = half_done[i * 6 + j];
    kernel_gradient(p);
#pragma unroll
    for (int j = 0; j < 3; ++j) vstorev(p[j], i * 3 + j, taps);
  }
}

// Writes the block's kernels to dw (outputs, channels, 3, 3).
INLINE void store_kernels(__global RESULT* dw, __global const float* m, const Problem* p, const Block* block) {
  NO_UNROLL
  for (int k = 0; k < min(p->block_k, p->outputs - block->first_k); ++k) {
    NO_UNROLL
    for (int c = 0; c < block->vectors_c; ++c) {
      float taps[9 * VW];
      kernels_of_sums(taps, m + (long)k * p->block_c + c * VW, p->m_step);
      const int channel = block->first_c + c * VW;
      __global RESULT* to = dw + ((long)(block->first_k + k) * p->channels + channel) * 9;
      NO_UNROLL
      for (int lane = 0; lane < min(VW, p->channels - channel); ++lane) {
        NO_UNROLL
        for (int tap = 0; tap < 9; ++tap) STORE(RESULT, to, lane * 9 + tap, taps[tap * VW + lane]);
      }
    }
  }
}

CPU_KERNEL void winograd_gradient(__global const float* restrict x, const ulong x_offset,
                                  __global const float* restrict dy, const ulong dy_offset,
                                  __global RESULT* restrict dw, const ulong dw_offset,
                                  __global float* restrict scratch, const ulong scratch_offset,
                                  const WinogradWeightParameters of) {
  const int block_k = of.block_k, block_c = of.block_c, chunk = of.chunk, parts = of.parts;
  // Each position has an additional vector, so that the distance of the 36 positions is no power of two.
  const Problem p = {of.channels, of.outputs, of.tiles_h, of.tiles_w, block_k, block_c,
                     (long)chunk * block_k + VW, (long)chunk * block_c + VW, (long)block_k * block_c + VW};
  const int blocks_k = (p.outputs + block_k - 1) / block_k, blocks_c = (p.channels + block_c - 1) / block_c;
  const long tiles = of.images * p.tiles_h * p.tiles_w;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* u = scratch + scratch_offset + item * of.slice;
  __global float* v = u + 36 * p.u_step;
  __global float* m = v + 36 * p.v_step;
  const long units = (long)parts * blocks_k * blocks_c;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int first_c = (int)(unit % blocks_c) * block_c, first_k = (int)(unit / blocks_c % blocks_k) * block_k;
    const Block block = {first_c, first_k, min(block_c / VW, VECTORS(p.channels) - first_c / VW),
                         min(block_k / VW, VECTORS(p.outputs) - first_k / VW)};
    const long part = unit / blocks_c / blocks_k;
    const long end = tiles * (part + 1) / parts;
    bool begun = false;
    long first = tiles * part / parts;
    do {  // Runs once even without tiles, so that M is written.
      const int now = (int)min((long)chunk, end - first);
      transform_tiles(u, v, x + x_offset, dy + dy_offset, &p, &block, first, now);
      add_products(m, u, v, &p, &block, now, begun);
      begun = true;
      first += chunk;
    } while (first < end);
    store_kernels(dw + dw_offset + part * p.outputs * p.channels * 9, m, &p, &block);
  }
}

CPU_KERNEL void winograd_add_parts(__global const float* restrict sums, const ulong sums_offset,
                                   __global RESULT* restrict dw, const ulong dw_offset, const long count,
                                   const int parts) {
  sums += sums_offset;
  dw += dw_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  const long units = (count + VW - 1) / VW;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long at = unit * VW;
    if (at + VW <= count) {
      floatv sum = UNALIGNED_CONST(sums + at);
      NO_UNROLL
      for (int part = 1; part < parts; ++part) sum += UNALIGNED_CONST(sums + part * count + at);
      STORE_MANY(RESULT, dw + at, sum);
    } else {
      NO_UNROLL
      for (long i = at; i < count; ++i) {
        float sum = sums[i];
        NO_UNROLL
        for (int part = 1; part < parts; ++part) sum += sums[part * count + i];
        STORE(RESULT, dw, i, sum);
      }
    }
  }
}
