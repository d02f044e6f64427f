// The gradient of a convolution's weight as a product in tiles, fp32. An engine (product/engines/) multiplies the
// tiles. The operands are read from dy and x in place.
//
//   C[i][j] = sum over k of dy[image][i][pixel] * x[image][channel][h][w]      m x n, depth k, a product per group
//   j = (channel, r, s), k = (image, pixel), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//
// The depth is cut as in gemm_tiled.cl, and gemm_parts.cl adds up the parts.
#include "conv/pixels_reader.h"
#include "product/engines/multiply.h"
#include "product/sink.h"
#include "product/tile_place.h"

TILE_KERNEL void conv2d_tiled_weight(__global const char* restrict y, const ulong y_offset,
                                     __global const char* restrict x, const ulong x_offset, __global float* restrict c,
                                     const ulong c_offset, __global const int4* restrict table,
                                     const ulong table_offset, EPILOGUE_PARAMETERS, const ProductParameters product,
                                     const PixelsParameters pixels) {
  LOCAL_STAGES;
  TilePlace tile;
  tile_place_by_columns(&tile, &product);
  const int m = (int)product.m, n = (int)product.n, row = (int)tile.row, column = (int)tile.column;
  const uint index = (uint)tile.index;

  x += (x_offset + index * pixels.x_group) * STORED_BYTES(SRC_STORAGE);
  y += (y_offset + index * pixels.dy_group) * STORED_BYTES(SRC_STORAGE);
  Operands o;
  pixels_begin(&o, y, x, table + table_offset / 4, &pixels, tile.first, tile.depth, row, m, column, n);
  TileSums acc;
  tile_multiply(acc, &o, stages, tile.depth);

  c += c_offset + (index * (uint)product.parts + tile.part) * ((long)m * n);
  const Target target = {c, e0, n, 1, 0};
  const Finish finish = FINISH_OF(0);
  const ColumnParameters columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
