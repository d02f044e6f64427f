// The gradient of a convolution's weight as a product in tiles, fp32. The engine of product/engine.h multiplies the
// tiles. The operands are read from dy and x in place.
//
//   C[i][j] = sum over k of dy[image][i][pixel] * x[image][channel][h][w]      m x n, depth k, a product per group
//   j = (channel, r, s), k = (image, pixel), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//
// The depth is cut as in gemm_tiled.cl, and gemm_parts.cl adds up the parts.
//
// window = (taps_h, taps_w, distance of channels of x, of rows of taps, of columns of taps, of channels of dy, unused …);
// steps = (distance in x of groups, in dy of groups, x_step, y_step of conv/pixels_reader.h).
#include "conv/conv_tile.h"
#include "conv/pixels_reader.h"
#include "product/multiply.h"
#include "product/plain_columns.h"
#include "product/sink.h"

TILE_KERNEL void conv2d_tiled_weight(__global const float* restrict y, const ulong y_offset, __global const float* restrict x, const ulong x_offset,
            __global float* restrict c, const ulong c_offset, __global const int4* restrict table,
            const ulong table_offset, EPILOGUE_PARAMETERS, const int m, const int n, const int k, const int table_size,
            const long8 window, const long4 steps, const int part_depth, const int parts) {
  LOCAL_STAGES;
  const ConvTile tile = conv_tile(m, n, k, part_depth, parts);
  const int row = tile.row, column = tile.column;
  const uint index = tile.index;

  Operands o;
  const uint turn = UNIFORM((uint)tile.first / (uint)table_size);
  o.at = tile.first - (int)turn * table_size;
  o.table = table + table_offset / 4;
  o.table_size = table_size;
  o.x_step = steps.s2 * 4;
  o.y_step = steps.s3 * 4;
  o.x = (__global const char*)(x + x_offset + index * steps.s0) + turn * o.x_step;
  o.y = (__global const char*)(y + y_offset + index * steps.s1) + turn * o.y_step;
  // If the depth is less than a slice, the pixels after the end are read at the last pixel.
  UNROLL
  for (int e = 0; e < PIXELS; ++e) o.pixel[e] = (uint)min(pixel_of_item(e), tile.depth - 1);
  UNROLL
  for (int p = 0; p < ROWS; ++p) o.row[p] = (uint)min(row + line_of_item() + p * LINES, m - 1) * (uint)window.s5 * 4;
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) {
    const uint j = (uint)min(column + line_of_item() + p * LINES, n - 1);
    const uint above = j / (uint)window.s1, channel = above / (uint)window.s0;
    const uint r = above - channel * (uint)window.s0, s = j - above * (uint)window.s1;
    o.column[p] = (channel * (uint)window.s2 + r * (uint)window.s3 + s * (uint)window.s4) * 4;
    o.taps[p] = tap_bits(r, s);
  }
  TileSums acc;
  tile_multiply(acc, &o, stages, tile.depth);

  const Columns columns = {0};
  const Target target = {c + c_offset + (index * parts + tile.part) * ((long)m * n), y, n, 1, 0};
  const Finish finish = FINISH_OF(0);
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
