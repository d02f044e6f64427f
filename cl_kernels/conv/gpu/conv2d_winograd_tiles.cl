// Winograd's filtering F(TILE x TILE, 3 x 3) on GPUs, first part: the operands of the products in conv2d_winograd.cl's
// formula.
//
//   V[position][channel][tile] = (B' d B)[position]        U[position][output][channel] = (G g G')[position]
//
// gemm_tiled.cl computes the products M = U V, one matrix product for each position. conv2d_winograd_output.cl does the
// rest. Tiles are counted through all images, row by row, up to `stride`. Tiles after the last one are zeros.
#include "conv/gpu/window.h"
#include "conv/parameters.h"
#include "conv/gpu/winograd_tile.h"

// Reads the tile whose first pixel is (h, w) of a plane. The plane starts at x[plane] and has `height` rows. The tile
// is zero outside of the plane.
INLINE void tile_read(float d[SIDE][SIDE], __global const float* x, uint plane, int h, int w, int height, int width) {
#if SKIPS_HIDDEN
  x += plane;
  UNROLL
  for (int i = 0; i < SIDE; ++i) {
    __global const float* row = x + ((h + i) * width + w);
    UNROLL
    for (int j = 0; j < SIDE; ++j) {
      d[i][j] = 0.0f;
      if ((uint)(h + i) < (uint)height && (uint)(w + j) < (uint)width) d[i][j] = row[j];
    }
  }
#else
  // `columns` and `row` count bytes. Positions outside of the plane are replaced by 0, which is always readable, and a
  // mask then sets the value to 0. A condition would be slower, because LLVM would turn it into a branch around the
  // read.
  uint columns[SIDE], shown[SIDE];
  UNROLL
  for (int j = 0; j < SIDE; ++j) {
    shown[j] = -(uint)((uint)(w + j) < (uint)width);
    columns[j] = (uint)(w + j) * 4 & shown[j];
  }
  UNROLL
  for (int i = 0; i < SIDE; ++i) {
    const uint inside = -(uint)((uint)(h + i) < (uint)height);
    const uint row = (plane + ((uint)(h + i) * (uint)width & inside)) * 4;
    UNROLL
    for (int j = 0; j < SIDE; ++j)
      d[i][j] = as_float(*(__global const uint*)((__global const char*)x + (row + columns[j])) & (shown[j] & inside));
  }
#endif
}

// One work-item for each tile of each channel.
__kernel void winograd_input(__global const float* restrict x, const ulong x_offset, __global float* restrict v,
                             const ulong v_offset, const uint count, const WinogradTiles p, const int pad_h,
                             const int pad_w) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint channel = id / (uint)p.stride, tile = id - channel * (uint)p.stride;
  const uint row = tile / (uint)p.tiles_w, image = row / (uint)p.tiles_h;
  const int height = p.height, width = p.width;
  const int h = (int)(row - image * (uint)p.tiles_h) * TILE - pad_h;
  const int w = (int)(tile - row * (uint)p.tiles_w) * TILE - pad_w;
  const bool none = tile >= (uint)p.tiles;
  const uint plane = none ? 0 : (image * (uint)p.channels + channel) * (uint)(height * width);
  float d[SIDE][SIDE];
  tile_read(d, x + x_offset, plane, h, w, none ? 0 : height, width);
  TRANSFORM(d, line_input, SIDE, SIDE)
  v += v_offset + id;
  UNROLL
  for (int i = 0; i < POSITIONS; ++i) v[i * (long)count] = d[i / SIDE][i % SIDE];
}

// One work-item for each kernel. Kernel (output, channel) begins at w[output * output_step + channel * channel_step].
// It is flipped for backward data, where outputs and channels change places.
__kernel void winograd_kernels(__global const float* restrict w, const ulong w_offset, __global float* restrict u,
                               const ulong u_offset, const uint count, const uint channels, const uint output_step,
                               const uint channel_step, const int flipped) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint output = id / channels, channel = id - output * channels;
  w += w_offset + (long)output * output_step + (long)channel * channel_step;
  float d[SIDE][SIDE];
  UNROLL
  for (int i = 0; i < 3; ++i)
    UNROLL
    for (int j = 0; j < 3; ++j) {
      const int tap = i * 3 + j;
      d[i][j] = w[flipped ? 8 - tap : tap];
    }
  TRANSFORM(d, line_kernel, 3, SIDE)
  u += u_offset + id;
  UNROLL
  for (int i = 0; i < POSITIONS; ++i) u[i * (long)count] = d[i / SIDE][i % SIDE];
}
