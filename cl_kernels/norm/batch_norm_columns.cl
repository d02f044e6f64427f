// Batch normalisation of a contiguous x (images, channels) of STORED on CPUs: the formulas of norm/batch_norm.cl. The
// lanes of a vector are neighbouring channels.
//
// A unit is a strip of up to STRIP vectors of channels, in `piece` images, which are a part of each of these channels.
// A work-item takes one unit after another.
#define COLUMNS
#include "common/fma.h"
#include "common/lanes.h"
#include "norm/batch_norm_channels.h"

DEFINE_LANES(load_parameters, store_parameters, PARAMETER)

#define STRIP 8

typedef struct {
  long part, first;         // The first channel of the strip.
  int channels, vectors;    // Of the strip.
  long begin, end;          // The part's images.
} Unit;

INLINE long strips_of(const long channels) { return (channels + STRIP * VW - 1) / (STRIP * VW); }

INLINE Unit unit_at(const long number, const BatchNormParameters* sizes) {
  const long strips = strips_of(sizes->channels);
  Unit unit;
  unit.part = number / strips;
  unit.first = number % strips * STRIP * VW;
  unit.channels = (int)min((long)STRIP * VW, sizes->channels - unit.first);
  unit.vectors = (unit.channels + VW - 1) / VW;
  unit.begin = unit.part * sizes->piece;
  unit.end = min(unit.begin + sizes->piece, sizes->rows / sizes->channels);
  return unit;
}

#define EACH_UNIT                                                        \
  EACH_ROW(number, sizes.parts * strips_of(sizes.channels)) {            \
    const Unit unit = unit_at(number, &sizes);
// EACH_VECTOR comes before a block and runs it for each vector w of the strip. `lanes` of its lanes exist.
#define EACH_VECTOR                                                       \
  NO_UNROLL                                                               \
  for (int w = 0, lanes; w < unit.vectors; ++w) {                         \
    lanes = min(VW, unit.channels - w * VW);
// Runs a block for each vector of each image of the part. The vector is at `at`.
#define EACH_ELEMENT                                                      \
  NO_UNROLL                                                               \
  for (long image = unit.begin; image < unit.end; ++image) EACH_VECTOR    \
      const long at = image * sizes.channels + unit.first + w * VW;

#define END_EACH }

// Stores two sums of each channel.
INLINE void store_partial(const floatv* a, const floatv* b, const Unit* unit, const long channels,
                          __global float* partial) {
  partial += 2 * (unit->part * channels + unit->first);
  NO_UNROLL
  for (int c = 0; c < unit->channels; ++c) {
    partial[2 * c] = ((const float*)a)[c];
    partial[2 * c + 1] = ((const float*)b)[c];
  }
}

CPU_KERNEL void batch_norm_moments(__global const STORED* restrict x, ulong x_offset, __global float* restrict partial,
                                   ulong partial_offset, BatchNormParameters sizes) {
  x += x_offset;
  EACH_UNIT
    const float count = unit.end - unit.begin;
    floatv base[STRIP], mean[STRIP], squares[STRIP];
    EACH_VECTOR
      base[w] = load_elements(x + unit.first + w * VW, lanes);
      mean[w] = squares[w] = (floatv)(0.0f);
    END_EACH
    EACH_ELEMENT mean[w] += load_elements(x + at, lanes) - base[w]; END_EACH
    EACH_VECTOR
      mean[w] /= count;
      base[w] += mean[w];
    END_EACH
    EACH_ELEMENT
      const floatv d = load_elements(x + at, lanes) - base[w];
      squares[w] = FMA(d, d, squares[w]);
    END_EACH
    store_partial(mean, squares, &unit, sizes.channels, partial + partial_offset);
  END_EACH
}

CPU_KERNEL void batch_norm_apply(
    __global const STORED* restrict x, ulong x_offset, __global const float* restrict mean, ulong mean_offset, __global
    const float* restrict invstd, ulong invstd_offset, __global const PARAMETER* weight, ulong weight_offset,
    __global const PARAMETER* bias, ulong bias_offset, __global STORED* restrict y, ulong y_offset,
    BatchNormParameters sizes, int affine) {
  x += x_offset;
  y += y_offset;
  EACH_UNIT
    floatv m[STRIP], scale[STRIP], shift[STRIP];
    EACH_VECTOR
      const long c = unit.first + w * VW;
      m[w] = load_lanes(mean + mean_offset + c, lanes);
      scale[w] = load_lanes(invstd + invstd_offset + c, lanes);
      if (affine & AFFINE_WEIGHT) scale[w] *= load_parameters(weight + weight_offset + c, lanes);
      shift[w] = affine & AFFINE_BIAS ? load_parameters(bias + bias_offset + c, lanes) : (floatv)(0.0f);
    END_EACH
    EACH_ELEMENT store_elements((load_elements(x + at, lanes) - m[w]) * scale[w] + shift[w], lanes, y + at); END_EACH
  END_EACH
}

CPU_KERNEL void batch_norm_backward_sums(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const float* restrict mean, ulong mean_offset, __global float* restrict partial, ulong partial_offset,
    BatchNormParameters sizes) {
  x += x_offset;
  dy += dy_offset;
  EACH_UNIT
    floatv m[STRIP], sum[STRIP], products[STRIP];
    EACH_VECTOR
      m[w] = load_lanes(mean + mean_offset + unit.first + w * VW, lanes);
      sum[w] = products[w] = (floatv)(0.0f);
    END_EACH
    EACH_ELEMENT
      const floatv g = load_elements(dy + at, lanes);
      sum[w] += g;
      products[w] = FMA(g, load_elements(x + at, lanes) - m[w], products[w]);
    END_EACH
    store_partial(sum, products, &unit, sizes.channels, partial + partial_offset);
  END_EACH
}

CPU_KERNEL void batch_norm_backward_apply(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const float* restrict mean, ulong mean_offset, __global const float* restrict invstd, ulong invstd_offset,
    __global const PARAMETER* weight, ulong weight_offset, __global const float* restrict dweight, ulong dweight_offset,
    __global const float* restrict dbias, ulong dbias_offset, __global STORED* restrict dx, ulong dx_offset,
    BatchNormParameters sizes, int affine, float inverse_count) {
  x += x_offset;
  dy += dy_offset;
  dx += dx_offset;
  EACH_UNIT
    floatv m[STRIP], scale[STRIP], level[STRIP], slope[STRIP];
    EACH_VECTOR
      const long c = unit.first + w * VW;
      m[w] = load_lanes(mean + mean_offset + c, lanes);
      scale[w] = load_lanes(invstd + invstd_offset + c, lanes);
      slope[w] = scale[w] * load_lanes(dweight + dweight_offset + c, lanes) * inverse_count;
      level[w] = load_lanes(dbias + dbias_offset + c, lanes) * inverse_count;
      if (affine & AFFINE_WEIGHT) scale[w] *= load_parameters(weight + weight_offset + c, lanes);
    END_EACH
    EACH_ELEMENT
      const floatv d = load_elements(x + at, lanes) - m[w];
      store_elements((load_elements(dy + at, lanes) - level[w] - d * slope[w]) * scale[w], lanes, dx + at);
    END_EACH
  END_EACH
}
