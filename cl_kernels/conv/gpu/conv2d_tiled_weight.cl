// The gradient of a convolution's weight as a product in tiles, fp32. An engine (product/engines/) multiplies the
// tiles. The operands are read from dy and x in place.
//
//   C[i][j] = sum over k of dy[image][i][pixel] * x[image][channel][h][w]      m x n, depth k, a product per group
//   j = (channel, r, s), k = (image, pixel), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//
// The depth is cut as in gemm_tiled.cl, and gemm_parts.cl adds up the parts.
#include "conv/gpu/planes_reader.h"
#include "conv/gpu/windows_reader.h"

typedef struct {
  Pixels pixels;
  PlanesReader dy;
  WindowsReader x;
} Operands;

INLINE void operands_load(Operands* o, VALUE_TYPE* a, VALUE_TYPE* b) {
  UNROLL
  for (int e = 0; e < PIXELS; ++e) {
    const int4 pixel = (o->pixels.table + o->pixels.at)[o->pixels.pixel[e]];
    planes_load(&o->dy, a, e, pixel);
    windows_load(&o->x, b, e, pixel);
  }
}

INLINE void operands_end(VALUE_TYPE* a, VALUE_TYPE* b, int depth) {
  pixels_end(a, ROWS, depth);
  pixels_end(b, COLUMNS, depth);
}

INLINE void operands_move(Operands* o, int depth) {
  const bool next = pixels_move(&o->pixels, depth);
  o->x.x += next ? o->x.step : 0;
  o->dy.y += next ? o->dy.step : 0;
}

INLINE void operands_keep(const Operands* o, const VALUE_TYPE* a, const VALUE_TYPE* b, __local StageWord* stage) {
  planes_keep(a, STAGE_A(stage));
  windows_keep(&o->x, b, STAGE_B(stage));
}

#include "product/gpu/engines/multiply.h"
#include "product/gpu/sink.h"
#include "product/gpu/tile_place.h"

TILE_KERNEL void conv2d_tiled_weight(__global const char* restrict y, const ulong y_offset,
                                     __global const char* restrict x, const ulong x_offset, __global RESULT* restrict c,
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
  const uint turn = pixels_begin(&o.pixels, table + table_offset / 4, pixels.table_size, tile.first, tile.depth);
  planes_begin(&o.dy, y, &pixels, turn, row, m);
  windows_begin(&o.x, x, &pixels, turn, column, n);
  TileSums acc;
  tile_multiply(acc, &o, stages, tile.depth);

  c += c_offset + (index * (uint)product.split_k + tile.part) * ((long)m * n);
  const Target target = {c, e0, n, 1, 0};
  const Finish finish = FINISH_OF(0);
  const ColumnParameters columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
