// Convolution of planes for CPUs, in fp32. Inputs are of STORED, the bias and results are of RESULT. It is for groups of
// few channels or few outputs (depthwise layers, first layers, the gradient of an image). For these a GEMM would read
// its packed panels only a few times, and packing would take longer than it saves.
//
//   y[n][k][i][j] = f(bias[k] + sum over c, r, s of x[n][gC + c][i stride_h + r dilation_h - pad_h][…] * w[…])
//
// A work-item is a work-group of its own and takes units of work (image, group, band of rows of y) one after another.
// It copies the rows of x that a band reads into its slice of `scratch`, with zeros around them. It sorts the columns
// by their remainder modulo the stride. So neighbouring outputs read neighbouring elements, and a vector of outputs
// reads a tap with one load.
//
// The elements of x are insert_h and insert_w apart in the copy, with zeros between them. The gradient of a strided
// convolution's input needs distances above 1. The stride of this kernel is then 1.
//
// The channels and outputs of `sizes` belong to one group.
#include "product/cpu/gemm_store.h"
#include "conv/parameters.h"
#include "conv/sizes.h"

#define ROWS PLANES_ROWS

typedef struct {
  int stride_w, step;   // Columns with remainder p modulo the stride start at p * step.
  int pitch;            // Floats of a row: stride_w * step.
  int pad_w, insert_w;
} Line;

INLINE Line line_of(int out_w, int taps_w, int stride_w, int dilation_w, int pad_w, int insert_w) {
  const int step = (out_w + VW - 1) / VW * VW + (taps_w - 1) * dilation_w / stride_w + 1;
  const Line line = {stride_w, step, stride_w * step, pad_w, insert_w};
  return line;
}

INLINE void copy_row(__global float* to, __global const STORED* from, int width, const Line* line) {
  if (line->stride_w == 1 && line->insert_w == 1) {
    to += line->pad_w;
    int w = 0;
    NO_UNROLL
    for (; w + VW <= width; w += VW) UNALIGNED(to + w) = LOAD_MANY(STORED, from + w);
    NO_UNROLL
    for (; w < width; ++w) to[w] = LOAD(STORED, from, w);
    return;
  }
  if (line->stride_w == 1) {
    NO_UNROLL
    for (int w = 0; w < width; ++w) to[w * line->insert_w + line->pad_w] = LOAD(STORED, from, w);
    return;
  }
  NO_UNROLL
  for (int p = 0; p < line->stride_w; ++p, to += line->step) {
    NO_UNROLL
    for (int at = 0, w = p - line->pad_w; at < line->step && w < width; ++at, w += line->stride_w)
      if (w >= 0) to[at] = LOAD(STORED, from, w);
  }
}

INLINE void clear(__global float* to, int count) {
  NO_UNROLL
  for (int i = 0; i < count; i += VW) UNALIGNED(to + i) = (floatv)(0.0f);
}

// Copies `rows` rows of a plane, from row `first` on. Copied rows are line->pitch apart. Rows outside of the plane are
// skipped. The plane's own rows are insert_h apart, with gaps between them.
INLINE void copy_rows(__global float* to, __global const STORED* from, int first, int rows, int height, int width,
                      int insert_h, const Line* line) {
  NO_UNROLL
  for (int row = 0; row < rows; ++row) {
    const int h = first + row;
    if (h < 0 || h % insert_h != 0 || h / insert_h >= height) continue;
    copy_row(to + row * line->pitch, from + (long)(h / insert_h) * width, width, line);
  }
}

// The position in a row of the elements that the taps of column s read, relative to the position for column 0.
INLINE int place_of_column(int s, const ConvWindow* window, const Line* line) {
  const int column = s * window->dilation_w;
  return column % line->stride_w * line->step + column / line->stride_w;
}

// Adds the products with one channel to the sums of ROWS rows of outputs, VW columns each. `from` is the first element
// that the outputs read, and `weight` is their first tap.
INLINE void add_channel(floatv acc[ROWS], __global const float* from, __global const STORED* weight, int tap_step,
                        const ConvWindow* window, const int* places, int pitch) {
  NO_UNROLL
  for (int r = 0; r < window->taps_h; ++r, from += window->dilation_h * pitch) {
    NO_UNROLL
    for (int s = 0; s < window->taps_w; ++s, weight += tap_step) {
      const floatv tap = (floatv)(LOAD(STORED, weight, 0));
#pragma unroll
      for (int o = 0; o < ROWS; ++o)
        acc[o] = FMA(tap, UNALIGNED_CONST(from + places[s] + o * window->stride_h * pitch), acc[o]);
    }
  }
}

// Stores `count` rows of `lanes` columns. The sums are first copied to memory, because the loop over the rows is not
// unrolled and cannot index registers.
INLINE void store_rows(const floatv acc[ROWS], int count, const Target* target, const Finish* finish, long first,
                       int out_w, int lanes) {
  floatv sums[ROWS];
#pragma unroll
  for (int o = 0; o < ROWS; ++o) sums[o] = acc[o];
  NO_UNROLL
  for (int o = 0; o < count; ++o)
    store_columns(sums + o, 0, target, finish, 0, first + (long)o * out_w, lanes, target->bias);
}

CPU_KERNEL void conv2d_planes(__global const STORED* restrict x, const ulong x_offset,
                              __global const STORED* restrict w, const ulong w_offset,
                              __global const RESULT* restrict bias, const ulong bias_offset,
                              __global RESULT* restrict y, const ulong y_offset, __global float* restrict scratch,
                              const ulong scratch_offset, EPILOGUE_PARAMETERS, const ConvSizes sizes,
                              const ConvWindow window, const PlanesParameters steps, const int flags) {
  const int channels = (int)sizes.channels, height = (int)sizes.height, width = (int)sizes.width;
  const int outputs = (int)sizes.outputs, out_h = (int)sizes.out_h, out_w = (int)sizes.out_w;
  const int groups = (int)sizes.groups, band = steps.band;
  const Line line = line_of(out_w, window.taps_w, window.stride_w, window.dilation_w, window.pad_w, steps.insert_w);
  const int rows = (band - 1) * window.stride_h + (window.taps_h - 1) * window.dilation_h + 1;
  const int bands = (out_h + band - 1) / band;
  const Finish finish = FINISH_OF(0);
  int places[PLANES_MAX_TAPS];
  NO_UNROLL
  for (int s = 0; s < window.taps_w; ++s) places[s] = place_of_column(s, &window, &line);
  const int tap_step = steps.flipped != 0 ? -1 : 1;
  x += x_offset;
  y += y_offset;
  w += w_offset + (steps.flipped != 0 ? window.taps_h * window.taps_w - 1 : 0);
  bias += bias_offset;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* planes = scratch + scratch_offset + item * steps.slice;
  const long units = sizes.images * groups * bands;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % bands) * band;
    const long plane = unit / bands;  // Index among all groups of all images.
    const int group = (int)(plane % groups);
    clear(planes, channels * rows * line.pitch);
    NO_UNROLL
    for (int c = 0; c < channels; ++c)
      copy_rows(planes + (long)c * rows * line.pitch, x + (plane * channels + c) * height * width,
                row_first * window.stride_h - window.pad_h, rows, height, width, steps.insert_h, &line);
    const long at_image = plane / groups * groups * outputs * out_h * out_w;
    NO_UNROLL
    for (int k = 0; k < outputs; ++k) {
      const int channel = group * outputs + k;
      const Target target = {y + (long)channel * out_h * out_w, 0, channel, 1, flags, bias + channel};
      NO_UNROLL
      for (int i = row_first; i < min(out_h, row_first + band); i += ROWS) {
        NO_UNROLL
        for (int j = 0; j < out_w; j += VW) {
          floatv acc[ROWS];
#pragma unroll
          for (int o = 0; o < ROWS; ++o) acc[o] = (floatv)(0.0f);
          NO_UNROLL
          for (int c = 0; c < channels; ++c)
            add_channel(acc, planes + ((long)c * rows + (i - row_first) * window.stride_h) * line.pitch + j,
                        w + group * steps.group + k * steps.output + c * steps.channel, tap_step, &window, places,
                        line.pitch);
          store_rows(acc, min(ROWS, out_h - i), &target, &finish, at_image + (long)i * out_w + j, out_w,
                     min(VW, out_w - j));
        }
      }
    }
  }
}

// The sums of a tap's products, ROWS rows at a time. The sum of the vector's lanes is the tap's gradient. `from` is the
// first element that the tap reads.
INLINE floatv tap_products(__global const float* from, __global const float* dy, int rows, int columns, int step,
                           int dy_pitch) {
  floatv acc[ROWS];
#pragma unroll
  for (int o = 0; o < ROWS; ++o) acc[o] = (floatv)(0.0f);
  NO_UNROLL
  for (int i = 0; i < rows; i += ROWS) {
    NO_UNROLL
    for (int j = 0; j < columns; j += VW) {
#pragma unroll
      for (int o = 0; o < ROWS; ++o)
        acc[o] = FMA(UNALIGNED_CONST(dy + (i + o) * dy_pitch + j), UNALIGNED_CONST(from + (i + o) * step + j), acc[o]);
    }
  }
  return (acc[0] + acc[1]) + (acc[2] + acc[3]);
}

// Only for depthwise layers: dw[k][r][s] = sum over n, i, j of dy[n][k][i][j] * x[n][k / outputs][…]. A unit of work is
// one k.
CPU_KERNEL void conv2d_planes_weight(__global const STORED* restrict x, const ulong x_offset,
                                     __global const STORED* restrict dy, const ulong dy_offset,
                                     __global RESULT* restrict dw, const ulong dw_offset,
                                     __global float* restrict scratch, const ulong scratch_offset,
                                     const ConvSizes sizes, const ConvWindow window, const long slice) {
  const int height = (int)sizes.height, width = (int)sizes.width, outputs = (int)sizes.outputs;
  const int out_h = (int)sizes.out_h, out_w = (int)sizes.out_w, groups = (int)sizes.groups;
  const Line line = line_of(out_w, window.taps_w, window.stride_w, window.dilation_w, window.pad_w, 1);
  const Line out_line = line_of(out_w, 1, 1, 1, 0, 1);
  const int out_rows = (out_h + ROWS - 1) / ROWS * ROWS, taps = window.taps_h * window.taps_w;
  const int rows = (out_rows - 1) * window.stride_h + (window.taps_h - 1) * window.dilation_h + 1;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* plane = scratch + scratch_offset + item * slice;
  __global float* out_plane = plane + rows * line.pitch;
  __global float* sums = out_plane + out_rows * out_line.pitch;
  // Once is enough: every image overwrites the same elements, and the zeros around them stay.
  clear(plane, rows * line.pitch + out_rows * out_line.pitch);
  const int channels = groups * outputs;
  NO_UNROLL
  for (long k = channels * item / items; k < channels * (item + 1) / items; ++k) {
    clear(sums, taps * VW);
    NO_UNROLL
    for (long image = 0; image < sizes.images; ++image) {
      copy_rows(plane, x + x_offset + (image * groups + k / outputs) * height * width, -window.pad_h, rows, height,
                width, 1, &line);
      copy_rows(out_plane, dy + dy_offset + (image * channels + k) * out_h * out_w, 0, out_h, out_h, out_w, 1,
                &out_line);
      NO_UNROLL
      for (int tap = 0; tap < taps; ++tap) {
        __global const float* from =
            plane + tap / window.taps_w * window.dilation_h * line.pitch +
            place_of_column(tap % window.taps_w, &window, &line);
        UNALIGNED(sums + tap * VW) +=
            tap_products(from, out_plane, out_rows, out_w, window.stride_h * line.pitch, out_line.pitch);
      }
    }
    NO_UNROLL
    for (int tap = 0; tap < taps; ++tap) {
      float sum = 0.0f;
      NO_UNROLL
      for (int lane = 0; lane < VW; ++lane) sum += sums[tap * VW + lane];
      STORE(RESULT, dw, dw_offset + k * taps + tap, sum);
    }
  }
}
