// The windows of one output row for CPUs, VW neighbouring outputs at a time. Outputs whose taps are all inside of the
// input's row are computed as vectors. The few outputs at the ends of the row are computed one by one.
#include "common/lanes.h"
#include "pool/window.h"

// An output row: `row` counts the rows of all planes, and `oh` the rows of its plane. A work-item takes the rows up to
// `end`.
typedef struct {
  long row, end, plane;
  int oh;
} OutputRow;

static inline OutputRow first_output_row(long planes, int out_h, long item, long items) {
  const long rows = planes * out_h;
  OutputRow at;
  at.row = rows * item / items;
  at.end = rows * (item + 1) / items;
  at.plane = at.row / out_h;
  at.oh = (int)(at.row - at.plane * out_h);
  return at;
}
static inline void next_output_row(OutputRow* at, int out_h) {
  ++at->row;
  if (++at->oh < out_h) return;
  at->oh = 0;
  ++at->plane;
}

// The outputs begin … end-1 of an output row have all their taps inside of the input's row. `reach` is the number of
// elements that a vector of outputs reads, from its first output's first tap on.
typedef struct {
  int begin, end;
  long reach;
} InnerColumns;

static inline InnerColumns inner_columns(const PoolWindow* w) {
  const int room = w->width + w->pad_w - w->dilation_w * (w->kernel_w - 1) - 1;
  InnerColumns inner;
  inner.begin = min(w->out_w, (w->pad_w + w->stride_w - 1) / w->stride_w);
  inner.end = room < 0 ? 0 : min(w->out_w, room / w->stride_w + 1);
  inner.reach = (long)VW * w->stride_w + (long)w->dilation_w * (w->kernel_w - 1);
  return inner;
}

// Whether the outputs from column ow on can be computed as a vector: its reads must end before the tensor ends.
// `last_row` is the index of the first element of the last row that they read.
static inline bool takes_vector(const InnerColumns* inner, const PoolWindow* w, const OutputRow* at, long planes,
                                int ow, long last_row) {
  const long left = (planes - at->plane) * w->height * w->width;
  return ow >= inner->begin && ow < inner->end && last_row + ow * w->stride_w - w->pad_w + inner->reach <= left;
}

// How many lanes of a vector may be stored from column ow on. Lanes beyond the end of the row may be stored if this
// work-item writes the next row later.
static inline int lanes_to_store(const InnerColumns* inner, const PoolWindow* w, const OutputRow* at, int ow) {
  const long room = inner->end < w->out_w ? inner->end - ow : (at->end - at->row) * w->out_w - ow;
  return (int)min(room, (long)VW);
}

// Lane i is p[i * step]. Reads may touch all VW * step elements.
static inline floatv load_stepped(__global const STORED* p, int step) {
  if (step == 1) return VLOAD(STORED, p);
  if (step == 2) {
    const floatv a = VLOAD(STORED, p);
    const floatv b = VLOAD(STORED, p + VW);
    floatv r;
    r.lo = a.even;
    r.hi = b.even;
    return r;
  }
  float lanes[VW];
  for (int i = 0; i < VW; ++i) lanes[i] = LOAD(STORED, p, i * step);
  return vloadv(0, lanes);
}
