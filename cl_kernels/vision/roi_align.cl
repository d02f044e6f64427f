// The mean or the maximum of samples in the bins of boxes (regions of interest), as Mask R-CNN has them.
//
//   y[k, c, i, j] = the mean over the samples of bin (i, j) of box k of image[k], read bilinearly from channel c
//
// With MAXIMUM, y is a maximum instead of the mean. A bilinear read is a sum of products weight · element. The maximum
// is taken over the products of all samples (ONNX's rule).
//
// x, y and dy are of STORED, boxes and dx are of REAL. x is (images, channels, height, width), boxes (count, 4) as
// (left, top, right, bottom), image (count). A bin has p.ratio samples along each axis. With ratio 0 it has one sample
// for each element that it covers. Samples more than one element outside the image count as zeros.
//
//   roi_align_forward   a work-item makes the elements first … first + chunk - 1 of y
//   roi_align_backward  a work-item owns the rows first … of a plane of dx, `rows` of them, and adds the boxes from
//                       `begin` to `end` in their order; others may follow in another launch
#include "common/element.h"
#include "common/real.h"
#include "vision/parameters.h"

#ifndef MAXIMUM
#define MAXIMUM 0
#endif

// The samples of a bin along one axis.
typedef struct {
  REAL start, step;  // Sample i is at start + (i + 0.5) * step.
  REAL count;
  int first, end;  // The samples first … end-1 are near the image. The other samples are zeros.
} Line;

static inline Line line_of(REAL low, REAL high, int bin, int bins, int ratio, int size, int aligned) {
  Line line;
  const REAL extent = aligned ? high - low : max(high - low, (REAL)1);
  const REAL width = extent / bins;
  line.count = ratio > 0 ? (REAL)ratio : max(ceil(width), (REAL)0);
  line.step = width / line.count;
  line.start = low + bin * width;
  line.first = 0;
  line.end = ratio;
  if (ratio > 0) return line;
  // Samples far outside of the image are left out, so that the time for a huge box is limited by the number of the
  // image's elements.
  const REAL before = ceil((-1.0f - line.start) / line.step - 0.5f) - 1.0f;
  const REAL last = floor((size - line.start) / line.step - 0.5f) + 1.0f;
  line.first = before > 0.0f ? (int)min(before, (REAL)1e9f) : 0;
  line.end = line.count > 0.0f ? (int)clamp(min(last + 1.0f, line.count), (REAL)0, (REAL)1e9f) : 0;
  return line;
}

typedef struct {
  int low, high;
  REAL below, above;  // Their weights.
} Neighbours;

static inline Neighbours neighbours_at(const Line* line, int sample, int size) {
  const REAL at = line->start + (sample + 0.5f) * line->step;
  Neighbours n = {0, 0, 0.0f, 0.0f};
  if (!(at >= -1.0f && at <= size)) return n;
  const REAL inside = min(max(at, (REAL)0), (REAL)size - 1);
  n.low = min((int)inside, size - 1);
  n.high = min(n.low + 1, size - 1);
  n.above = inside - n.low;
  n.below = 1.0f - n.above;
  return n;
}

// Finds the largest of a sample's four products. Returns its number from 0 to 3, and *best becomes its value.
static inline int best_corner(const REAL* value, const REAL* weight, REAL* best) {
  int at = 0;
  *best = weight[0] * value[0];
  for (int i = 1; i < 4; ++i)
    if (weight[i] * value[i] > *best) {
      *best = weight[i] * value[i];
      at = i;
    }
  return at;
}

// The largest product of a bin. *place becomes the index of the product's element in the plane, or -1. *share becomes
// its weight.
static inline REAL maximum_of(__global const STORED* plane, int height, int width, const Line* down, const Line* across,
                              long* place, REAL* share) {
  // Samples that are left out count as zeros.
  const bool has_zeros = down->first > 0 || across->first > 0 || down->end < down->count || across->end < across->count;
  REAL result = has_zeros || down->end <= down->first || across->end <= across->first ? 0.0f : -INFINITY;
  *place = -1;
  *share = 0.0f;
  for (int i = down->first; i < down->end; ++i) {
    const Neighbours y = neighbours_at(down, i, height);
    for (int j = across->first; j < across->end; ++j) {
      const Neighbours x = neighbours_at(across, j, width);
      const long at[4] = {(long)y.low * width + x.low, (long)y.low * width + x.high, (long)y.high * width + x.low,
                          (long)y.high * width + x.high};
      const REAL weight[4] = {y.below * x.below, y.below * x.above, y.above * x.below, y.above * x.above};
      const REAL value[4] = {LOAD(STORED, plane, at[0]), LOAD(STORED, plane, at[1]), LOAD(STORED, plane, at[2]),
                             LOAD(STORED, plane, at[3])};
      REAL best;
      const int corner = best_corner(value, weight, &best);
      if (!(best > result)) continue;
      result = best;
      *place = at[corner];
      *share = weight[corner];
    }
  }
  return result;
}

__kernel void roi_align_forward(__global const STORED* restrict x, const ulong x_offset,
                                __global const REAL* restrict boxes, const ulong boxes_offset,
                                __global const long* restrict image, const ulong image_offset,
                                __global STORED* restrict y, const ulong y_offset, const long elements,
                                const RoiParameters p, const REAL scale, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const REAL shift = p.aligned ? 0.5f : 0.0f;
  for (long i = first; i < min(first + chunk, elements); ++i) {
    const long k = i / ((long)p.channels * p.out_h * p.out_w);
    const int c = (int)(i / (p.out_h * p.out_w) % p.channels);
    const long n = image[image_offset + k];
    if (n < 0 || n >= p.images) {
      STORE(STORED, y, y_offset + i, NAN);
      continue;
    }
    __global const REAL* box = boxes + boxes_offset + 4 * k;
    const Line across = line_of(box[0] * scale - shift, box[2] * scale - shift, (int)(i % p.out_w), p.out_w, p.ratio,
                                p.width, p.aligned);
    const Line down = line_of(box[1] * scale - shift, box[3] * scale - shift, (int)(i / p.out_w % p.out_h), p.out_h,
                              p.ratio, p.height, p.aligned);
    __global const STORED* plane = x + x_offset + (n * p.channels + c) * p.height * p.width;
#if MAXIMUM
    long place;
    REAL share;
    STORE(STORED, y, y_offset + i, maximum_of(plane, p.height, p.width, &down, &across, &place, &share));
#else
    REAL sum = 0.0f;
    for (int r = down.first; r < down.end; ++r) {
      const Neighbours a = neighbours_at(&down, r, p.height);
      for (int s = across.first; s < across.end; ++s) {
        const Neighbours b = neighbours_at(&across, s, p.width);
        __global const STORED* low = plane + (long)a.low * p.width;
        __global const STORED* high = plane + (long)a.high * p.width;
        sum += a.below * (b.below * LOAD(STORED, low, b.low) + b.above * LOAD(STORED, low, b.high)) +
               a.above * (b.below * LOAD(STORED, high, b.low) + b.above * LOAD(STORED, high, b.high));
      }
    }
    STORE(STORED, y, y_offset + i, sum / max(down.count * across.count, (REAL)1));
#endif
  }
}

__kernel void roi_align_backward(__global const STORED* restrict dy, const ulong dy_offset,
                                 __global const STORED* restrict x, const ulong x_offset,
                                 __global const REAL* restrict boxes, const ulong boxes_offset,
                                 __global const long* restrict image, const ulong image_offset,
                                 __global REAL* restrict dx, const ulong dx_offset, const long planes,
                                 const RoiParameters p, const REAL scale, const int rows, const long begin,
                                 const long end) {
  const int strips = (p.height + rows - 1) / rows;
  const long plane = get_global_id(0) / strips;
  if (plane >= planes) return;
  const int top = (int)(get_global_id(0) % strips) * rows;
  const int bottom = min(top + rows, p.height);
  const REAL shift = p.aligned ? 0.5f : 0.0f;
  __global REAL* to = dx + dx_offset + plane * p.height * p.width;
  for (long k = begin; k < end; ++k) {
    if (image[image_offset + k] != plane / p.channels) continue;
    __global const REAL* box = boxes + boxes_offset + 4 * k;
    __global const STORED* d = dy + dy_offset + (k * p.channels + plane % p.channels) * p.out_h * p.out_w;
    for (int i = 0; i < p.out_h; ++i) {
      const Line down =
          line_of(box[1] * scale - shift, box[3] * scale - shift, i, p.out_h, p.ratio, p.height, p.aligned);
      for (int j = 0; j < p.out_w; ++j) {
        const Line across =
            line_of(box[0] * scale - shift, box[2] * scale - shift, j, p.out_w, p.ratio, p.width, p.aligned);
#if MAXIMUM
        long place;
        REAL share;
        maximum_of(x + x_offset + plane * p.height * p.width, p.height, p.width, &down, &across, &place, &share);
        if (place >= (long)top * p.width && place < (long)bottom * p.width)
          to[place] += share * LOAD(STORED, d, i * p.out_w + j);
#else
        const REAL part = LOAD(STORED, d, i * p.out_w + j) / max(down.count * across.count, (REAL)1);
        for (int r = down.first; r < down.end; ++r) {
          const Neighbours a = neighbours_at(&down, r, p.height);
          if (a.high < top || a.low >= bottom) continue;
          for (int s = across.first; s < across.end; ++s) {
            const Neighbours b = neighbours_at(&across, s, p.width);
            if (a.low >= top) {
              to[(long)a.low * p.width + b.low] += part * a.below * b.below;
              to[(long)a.low * p.width + b.high] += part * a.below * b.above;
            }
            if (a.high < bottom) {
              to[(long)a.high * p.width + b.low] += part * a.above * b.below;
              to[(long)a.high * p.width + b.high] += part * a.above * b.above;
            }
          }
        }
#endif
      }
    }
  }
}
