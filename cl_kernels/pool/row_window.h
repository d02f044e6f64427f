// The windows of one output row for CPUs, VW neighbouring outputs at a time. Outputs whose taps are all inside the
// input's row are computed as vectors. The few at the ends are computed one by one.
#include "common/lanes.h"
#include "pool/window.h"

// The output rows of this work-item, counted over all planes.
typedef struct {
  long begin, end;
} RowRange;

static inline RowRange row_range(long planes, int out_h) {
  const long rows = planes * out_h;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  RowRange range;
  range.begin = rows * item / items;
  range.end = rows * (item + 1) / items;
  return range;
}

// The columns first … end-1 of an output row have all their taps inside the input's row.
static inline int first_inner_column(const Window* w) {
  return min(w->out_w, (w->pad_w + w->stride_w - 1) / w->stride_w);
}
static inline int end_inner_column(const Window* w) {
  const int room = w->width + w->pad_w - w->dil_w * (w->kernel_w - 1) - 1;
  return room < 0 ? 0 : min(w->out_w, room / w->stride_w + 1);
}

// The number of elements that a vector of outputs reads, from its first output's first tap on.
static inline long vector_reach(const Window* w) { return (long)VW * w->stride_w + (long)w->dil_w * (w->kernel_w - 1); }

// Lane i is p[i * step]. May touch VW * step elements.
static inline floatv load_stepped(__global const float* p, int step) {
  if (step == 1) return vloadv(0, p);
  if (step == 2) {
    const floatv a = vloadv(0, p);
    const floatv b = vloadv(1, p);
    floatv r;
    r.lo = a.even;
    r.hi = b.even;
    return r;
  }
  float lanes[VW];
  for (int i = 0; i < VW; ++i) lanes[i] = p[i * step];
  return vloadv(0, lanes);
}
