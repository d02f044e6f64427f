// Convolution of planes for CPUs, fp32. It is for groups of few channels or few outputs (depthwise layers, first
// layers, the gradient of an image). There a GEMM would read its panels too few times to pay for packing them.
//
//   y[n][k][i][j] = f(bias[k] + sum over c, r, s of x[n][gC + c][i stride_h + r dil_h - pad_h][…] * w[…])
//
// A work-item is a work-group of its own and takes units of work (image, group, band of rows of y) one after another.
// It copies the rows of x that a band reads into its slice of `scratch`, with the zeros around them. The columns are
// sorted by their remainder modulo the stride. So neighbouring outputs read neighbouring elements, and every tap is one
// load.
//
// insert_h and insert_w above 1 put x's elements that far apart, with zeros between them. The gradient of a strided
// convolution's input needs this. The stride of the kernel is then 1.
//
// sizes = (N, channels of x in a group, rows of x, columns of x, outputs of y in a group, OH, OW, groups),
// window as in conv/conv.h,
// steps = (distance in w of outputs, of channels, of groups; 1 if flipped (taps run backwards); insert_h, insert_w,
//          rows of a band, floats of a slice).
#include "product/gemm_store.h"
#include "conv/sizes.h"

#define ROWS PLANES_ROWS

typedef struct {
  int stride_w, step;   // Columns with remainder p modulo the stride start at p * step.
  int pitch;            // Floats of a row: stride_w * step.
  int pad_w, insert_w;
} Line;

INLINE Line line_of(int out_w, int taps_w, int stride_w, int dil_w, int pad_w, int insert_w) {
  const int step = (out_w + VW - 1) / VW * VW + (taps_w - 1) * dil_w / stride_w + 1;
  const Line line = {stride_w, step, stride_w * step, pad_w, insert_w};
  return line;
}

INLINE void copy_row(__global float* to, __global const float* from, int width, const Line* line) {
  if (line->stride_w == 1 && line->insert_w == 1) {
    to += line->pad_w;
    int w = 0;
    NO_UNROLL
    for (; w + VW <= width; w += VW) UNALIGNED(to + w) = UNALIGNED_CONST(from + w);
    NO_UNROLL
    for (; w < width; ++w) to[w] = from[w];
    return;
  }
  if (line->stride_w == 1) {
    NO_UNROLL
    for (int w = 0; w < width; ++w) to[w * line->insert_w + line->pad_w] = from[w];
    return;
  }
  NO_UNROLL
  for (int p = 0; p < line->stride_w; ++p, to += line->step) {
    NO_UNROLL
    for (int at = 0, w = p - line->pad_w; at < line->step && w < width; ++at, w += line->stride_w)
      if (w >= 0) to[at] = from[w];
  }
}

INLINE void clear(__global float* to, int count) {
  NO_UNROLL
  for (int i = 0; i < count; i += VW) UNALIGNED(to + i) = (floatv)(0.0f);
}

CPU_KERNEL void conv2d_planes(__global const float* restrict x, const ulong x_offset, __global const float* restrict w,
                              const ulong w_offset, __global const float* restrict bias, const ulong bias_offset,
                              __global float* restrict y, const ulong y_offset, __global float* restrict scratch,
                              const ulong scratch_offset, EPILOGUE_PARAMETERS, const long8 sizes, const long8 window,
                              const long8 steps, const int flags) {
  const int channels = (int)sizes.s1, height = (int)sizes.s2, width = (int)sizes.s3, outputs = (int)sizes.s4;
  const int out_h = (int)sizes.s5, out_w = (int)sizes.s6, groups = (int)sizes.s7;
  const int taps_h = (int)window.s0, taps_w = (int)window.s1, stride_h = (int)window.s2, pad_h = (int)window.s4;
  const int dil_h = (int)window.s6, dil_w = (int)window.s7, insert_h = (int)steps.s4, band = (int)steps.s6;
  const Line line = line_of(out_w, taps_w, (int)window.s3, dil_w, (int)window.s5, (int)steps.s5);
  const int rows = (band - 1) * stride_h + (taps_h - 1) * dil_h + 1;
  const int bands = (out_h + band - 1) / band;
  const Finish finish = FINISH_OF(0);
  int at_tap[PLANES_MAX_TAPS];
  NO_UNROLL
  for (int s = 0; s < taps_w; ++s) at_tap[s] = s * dil_w % line.stride_w * line.step + s * dil_w / line.stride_w;
  x += x_offset;
  y += y_offset;
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* planes = scratch + scratch_offset + item * steps.s7;
  const long units = sizes.s0 * groups * bands;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % bands) * band;
    const long plane = unit / bands;  // Counted over all groups of all images.
    const int group = (int)(plane % groups);
    clear(planes, channels * rows * line.pitch);
    NO_UNROLL
    for (int c = 0; c < channels; ++c) {
      NO_UNROLL
      for (int row = 0; row < rows; ++row) {
        const int h = row_first * stride_h + row - pad_h;
        if (h < 0 || h % insert_h != 0 || h / insert_h >= height) continue;
        copy_row(planes + ((long)c * rows + row) * line.pitch,
                 x + ((plane * channels + c) * height + h / insert_h) * width, width, &line);
      }
    }
    NO_UNROLL
    for (int k = 0; k < outputs; ++k) {
      const int channel = group * outputs + k;
      __global float* out = y + (plane / groups * groups * outputs + channel) * out_h * out_w;
      const long at_image = plane / groups * groups * outputs * out_h * out_w;
      NO_UNROLL
      for (int i = row_first; i < min(out_h, row_first + band); i += ROWS) {
        NO_UNROLL
        for (int j = 0; j < out_w; j += VW) {
          floatv acc[ROWS];
#pragma unroll
          for (int o = 0; o < ROWS; ++o) acc[o] = (floatv)(0.0f);
          NO_UNROLL
          for (int c = 0; c < channels; ++c) {
            __global const float* kernel_at = w + w_offset + group * steps.s2 + k * steps.s0 + c * steps.s1;
            __global const float* from = planes + ((long)c * rows + (i - row_first) * stride_h) * line.pitch + j;
            const int step = steps.s3 != 0 ? -1 : 1;
            if (steps.s3 != 0) kernel_at += taps_h * taps_w - 1;
            NO_UNROLL
            for (int r = 0; r < taps_h; ++r, from += dil_h * line.pitch) {
              NO_UNROLL
              for (int s = 0; s < taps_w; ++s, kernel_at += step) {
                const floatv weight = (floatv)(*kernel_at);
#pragma unroll
                for (int o = 0; o < ROWS; ++o)
                  acc[o] = FMA(weight, UNALIGNED_CONST(from + at_tap[s] + o * stride_h * line.pitch), acc[o]);
              }
            }
          }
          floatv sums[ROWS];
#pragma unroll
          for (int o = 0; o < ROWS; ++o) sums[o] = acc[o];
          const Target target = {out - at_image, 0, channel, 1, flags, bias + channel};
          NO_UNROLL
          for (int o = 0; o < min(ROWS, out_h - i); ++o)
            store_columns(sums + o, 0, &target, &finish, 0, at_image + (long)(i + o) * out_w + j, min(VW, out_w - j),
                          bias + channel);
        }
      }
    }
  }
}

// Only for depthwise layers: dw[k][r][s] = sum over n, i, j of dy[n][k][i][j] * x[n][k / outputs][…]. A unit of work is
// one k.
CPU_KERNEL void conv2d_planes_weight(__global const float* restrict x, const ulong x_offset,
                                     __global const float* restrict dy, const ulong dy_offset,
                                     __global float* restrict dw, const ulong dw_offset,
                                     __global float* restrict scratch, const ulong scratch_offset, const long8 sizes,
                                     const long8 window, const long slice) {
  const int height = (int)sizes.s2, width = (int)sizes.s3, outputs = (int)sizes.s4;
  const int out_h = (int)sizes.s5, out_w = (int)sizes.s6, groups = (int)sizes.s7;
  const int taps_h = (int)window.s0, taps_w = (int)window.s1, stride_h = (int)window.s2, pad_h = (int)window.s4;
  const int dil_h = (int)window.s6, dil_w = (int)window.s7;
  const Line line = line_of(out_w, taps_w, (int)window.s3, dil_w, (int)window.s5, 1);
  const Line out_line = line_of(out_w, 1, 1, 1, 0, 1);
  const int out_rows = (out_h + ROWS - 1) / ROWS * ROWS;
  const int rows = (out_rows - 1) * stride_h + (taps_h - 1) * dil_h + 1;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* plane = scratch + scratch_offset + item * slice;
  __global float* out_plane = plane + rows * line.pitch;
  __global float* sums = out_plane + out_rows * out_line.pitch;
  // Once is enough, because every image overwrites the same elements.
  clear(plane, rows * line.pitch + out_rows * out_line.pitch);
  const int channels = groups * outputs;
  NO_UNROLL
  for (long k = channels * item / items; k < channels * (item + 1) / items; ++k) {
    clear(sums, taps_h * taps_w * VW);
    NO_UNROLL
    for (long image = 0; image < sizes.s0; ++image) {
      NO_UNROLL
      for (int row = 0; row < min(rows, height + pad_h); ++row)
        if (row >= pad_h)
          copy_row(plane + row * line.pitch,
                   x + x_offset + ((image * groups + k / outputs) * height + row - pad_h) * width, width, &line);
      NO_UNROLL
      for (int row = 0; row < out_h; ++row)
        copy_row(out_plane + row * out_line.pitch, dy + dy_offset + ((image * channels + k) * out_h + row) * out_w, out_w,
                 &out_line);
      NO_UNROLL
      for (int tap = 0; tap < taps_h * taps_w; ++tap) {
        const int column = tap % taps_w * dil_w;
        __global const float* from = plane + tap / taps_w * dil_h * line.pitch + column % line.stride_w * line.step +
                                     column / line.stride_w;
        floatv acc[ROWS];
#pragma unroll
        for (int o = 0; o < ROWS; ++o) acc[o] = (floatv)(0.0f);
        NO_UNROLL
        for (int i = 0; i < out_rows; i += ROWS) {
          NO_UNROLL
          for (int j = 0; j < out_w; j += VW) {
#pragma unroll
            for (int o = 0; o < ROWS; ++o)
              acc[o] = FMA(UNALIGNED_CONST(out_plane + (i + o) * out_line.pitch + j),
                           UNALIGNED_CONST(from + (i + o) * stride_h * line.pitch + j), acc[o]);
          }
        }
        UNALIGNED(sums + tap * VW) += (acc[0] + acc[1]) + (acc[2] + acc[3]);
      }
    }
    NO_UNROLL
    for (int tap = 0; tap < taps_h * taps_w; ++tap) {
      float sum = 0.0f;
      NO_UNROLL
      for (int lane = 0; lane < VW; ++lane) sum += sums[tap * VW + lane];
      dw[dw_offset + k * taps_h * taps_w + tap] = sum;
    }
  }
}
