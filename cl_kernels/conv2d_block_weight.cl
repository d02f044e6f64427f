// Gradient of a convolution's weight on GPUs, as a product whose operands are read from dy and x as they lie:
//
//   C[i][j] = sum over k of dy[image][i][pixel] * x[image][channel][h][w]      m x n, depth k, a product per group
//   j = (channel, r, s), k = (image, pixel), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//
// An item reads one pixel of a slice for several rows and columns. Where it lies, and which taps it sees outside, stands in
// a table of conv2d_block_prepare.cl: (place in x of its first tap, bits of the taps outside, place in dy, unused) for the
// `table_size` pixels of so many images that there are BK of them or more; then come the next images, x_step and y_step
// further. So the loop divides nothing.
//
// The depth is cut as that of gemm_block.cl, of which gemm_parts.cl adds up the parts.
#include "common/block.h"

#define LINES (ITEMS / BK)  // That are read at a time.
#define ROWS (BM / LINES)
#define COLUMNS (BN / LINES)
INLINE int pixel_of_item(void) { return block_item() % BK; }
INLINE int line_of_item(void) { return block_item() / BK; }

typedef struct {
  __global const float *x, *y;  // Of the group and the images that the item's pixel is in.
  __global const int4* table;
  int at, table_size;  // The pixel.
  long x_step, y_step;
  int row[ROWS], column[COLUMNS];  // From a pixel's first element in dy and x on.
  uint taps[COLUMNS];
  bool hidden[COLUMNS];  // Of the slice that was read.
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  const int4 pixel = o->table[o->at];
  __global const float* y = o->y + pixel.z;
  __global const float* x = o->x + pixel.x;
  UNROLL
  for (int p = 0; p < ROWS; ++p) a[p] = y[o->row[p]];
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) {
    o->hidden[p] = (o->taps[p] & (uint)pixel.y) != 0;
    b[p] = x[o->hidden[p] ? -pixel.x : o->column[p]];  // Outside, something that may be read.
  }
}

INLINE void operands_end(float* a, float* b, int depth) {
  if (pixel_of_item() < depth) return;
  UNROLL
  for (int p = 0; p < ROWS; ++p) a[p] = 0.0f;
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) b[p] = 0.0f;
}

// By at most BK, and so over no more than one end of the table.
INLINE void operands_move(Operands* o, int depth) {
  o->at += depth;
  const bool next = o->at >= o->table_size;
  o->at -= next ? o->table_size : 0;
  o->x += next ? o->x_step : 0;
  o->y += next ? o->y_step : 0;
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local float* stage) {
  __local float* to_a = stage + pixel_of_item() * PITCH_A + line_of_item();
  __local float* to_b = stage + BK * PITCH_A + pixel_of_item() * PITCH_B + line_of_item();
  UNROLL
  for (int p = 0; p < ROWS; ++p) to_a[p * LINES] = a[p];
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) to_b[p * LINES] = o->hidden[p] ? 0.0f : b[p];
}

typedef struct {
  int unused;
} Columns;
INLINE long place_of(const Columns* columns, long column) { return column; }

#include "common/block_multiply.h"
#include "common/block_store.h"
#include "common/conv_taps.h"

// window = (taps_h, taps_w, distance of channels of x, of rows of taps, of columns of taps, of channels of dy, unused …);
// steps = (distance in x of groups, in dy of groups, x_step, y_step).
BLOCK_KERNEL void conv2d_block_weight(__global const float* restrict y, const ulong y_offset,
                                      __global const float* restrict x, const ulong x_offset,
                                      __global float* restrict c, const ulong c_offset,
                                      __global const int4* restrict table, const ulong table_offset,
                                      EPILOGUE_PARAMETERS, const int m, const int n, const int k, const int table_size,
                                      const long8 window, const long4 steps, const int part_depth, const int parts) {
  __local float stages[2 * STAGE] __attribute__((aligned(16)));
  const uint tiles_m = (uint)(m + BM - 1) / BM, tiles_n = (uint)(n + BN - 1) / BN;
  uint group = get_group_id(0);
  const uint tile = group % (tiles_m * tiles_n);
  group /= tiles_m * tiles_n;
  const uint part = group % parts, index = group / parts;
  const int row = (int)(tile % tiles_m) * BM, column = (int)(tile / tiles_m) * BN;
  const int first = (int)part * part_depth, depth = min(k - first, part_depth);

  Operands o;
  // Where the depth is less than a slice, its last pixel stands for those behind the end.
  const uint pixel = (uint)first + (uint)min(pixel_of_item(), depth - 1), turn = pixel / (uint)table_size;
  o.table = table + table_offset / 4;
  o.table_size = table_size;
  o.at = (int)(pixel - turn * (uint)table_size);
  o.x_step = steps.s2;
  o.y_step = steps.s3;
  o.x = x + x_offset + index * steps.s0 + turn * o.x_step;
  o.y = y + y_offset + index * steps.s1 + turn * o.y_step;
  UNROLL
  for (int p = 0; p < ROWS; ++p) o.row[p] = min(row + line_of_item() + p * LINES, m - 1) * (int)window.s5;
  UNROLL
  for (int p = 0; p < COLUMNS; ++p) {
    const uint j = (uint)min(column + line_of_item() + p * LINES, n - 1);
    const uint above = j / (uint)window.s1, channel = above / (uint)window.s0;
    const uint r = above - channel * (uint)window.s0, s = j - above * (uint)window.s1;
    o.column[p] = (int)channel * (int)window.s2 + (int)r * (int)window.s3 + (int)s * (int)window.s4;
    o.taps[p] = tap_bits(r, s);
  }
  float acc[TM][TN];
  block_multiply(acc, &o, stages, depth);

  const Columns columns = {0};
  const Target target = {c + c_offset + (index * parts + part) * ((long)m * n), y, n, 1, 0};
  const Finish finish = FINISH_OF(0);
  block_store(acc, row, column, m, n, &columns, &target, &finish);
}
