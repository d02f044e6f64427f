// Rows of numbers, each worked on by a group of GROUP work-items with VW lanes each.
//
//   CPU              GROUP 1, VW 16: wide vectors, no barriers; the elements of a row are neighbours
//   GPU, long rows   GROUP 128, VW 1: a tree in local memory
//   short rows       GROUP 1, VW 1
//
// A row of n elements is CHUNKS(n) chunks of VW; the group's work-items take them in turn, beginning with their LANE_ID.
// The lanes of the last chunk that lie past the row are filled by load_chunk and left out by store_chunk.
#ifndef VW
#define VW 16
#endif
#ifndef GROUP
#define GROUP 1
#endif

#define ROW_JOIN_(a, b) a##b
#define ROW_JOIN(a, b) ROW_JOIN_(a, b)
#if VW == 1
#define rowv float
#else
#define rowv ROW_JOIN(float, VW)
#endif

#define CHUNKS(n) (((n) + VW - 1) / VW)
// What one group takes of a row that is worked on in parts: 64 chunks for each work-item, so that plain sums over a part
// stay exact enough.
#define PART_CHUNKS (64L * GROUP)
#define ROW_ID ((long)get_global_id(0) / GROUP)
// Leaves the kernel for the items that round a range up; whole groups have none, and a return before a barrier breaks
// PoCL 3.1.
#define SKIP_ITEMS_FROM(rows) \
  if (GROUP == 1 && ROW_ID >= (rows)) return

#if GROUP > 1
#define LANE_ID ((long)get_local_id(0))
#else
#define LANE_ID 0L
#endif

// Elements chunk * VW … of a row whose neighbours are `step` apart (1 unless VW is 1).
inline rowv load_chunk(__global const float* row, long chunk, long n, long step, float fill) {
#if VW == 1
  return row[chunk * step];
#else
  const long first = chunk * VW;
  if (first + VW <= n) return ROW_JOIN(vload, VW)(chunk, row);
  float lanes[VW];
  for (int i = 0; i < VW; ++i) lanes[i] = first + i < n ? row[first + i] : fill;
  return ROW_JOIN(vload, VW)(0, lanes);
#endif
}

inline void store_chunk(rowv v, __global float* row, long chunk, long n, long step) {
#if VW == 1
  row[chunk * step] = v;
#else
  const long first = chunk * VW;
  if (first + VW <= n) {
    ROW_JOIN(vstore, VW)(v, chunk, row);
    return;
  }
  float lanes[VW];
  ROW_JOIN(vstore, VW)(v, 0, lanes);
  for (int i = 0; first + i < n; ++i) row[first + i] = lanes[i];
#endif
}

inline float lanes_sum(rowv v) {
#if VW == 1
  return v;
#else
  float lanes[VW];
  ROW_JOIN(vstore, VW)(v, 0, lanes);
  for (int w = VW / 2; w > 0; w /= 2)
    for (int i = 0; i < w; ++i) lanes[i] += lanes[i + w];
  return lanes[0];
#endif
}

inline float lanes_max(rowv v) {
#if VW == 1
  return v;
#else
  float lanes[VW];
  ROW_JOIN(vstore, VW)(v, 0, lanes);
  for (int w = VW / 2; w > 0; w /= 2)
    for (int i = 0; i < w; ++i) lanes[i] = fmax(lanes[i], lanes[i + w]);
  return lanes[0];
#endif
}

// Over all lanes of all the group's work-items; every one of them must get here. `scratch` is ROW_SCRATCH's.
#if GROUP > 1
#define ROW_SCRATCH __local float scratch[GROUP]
#define ROW_TREE(name, combine)                                                      \
  inline float name(float v, __local float* scratch) {                               \
    const int id = get_local_id(0);                                                  \
    barrier(CLK_LOCAL_MEM_FENCE); /* The previous result has been read by all. */    \
    scratch[id] = v;                                                                 \
    for (int w = GROUP / 2; w > 0; w /= 2) {                                \
      barrier(CLK_LOCAL_MEM_FENCE);                                                  \
      if (id < w) scratch[id] = combine(scratch[id], scratch[id + w]);         \
    }                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                    \
    return scratch[0];                                                               \
  }
#define ROW_PLUS(a, b) ((a) + (b))
ROW_TREE(group_sum, ROW_PLUS)
ROW_TREE(group_max, fmax)
#define group_total(v) group_sum(v, scratch)
#define row_max(v) group_max(lanes_max(v), scratch)
#else
#define ROW_SCRATCH
#define group_total(v) (v)
#define row_max(v) lanes_max(v)
#endif
#define row_sum(v) group_total(lanes_sum(v))

// A long sum in blocks of 64, so that its rounding error grows with the number of blocks only.
typedef struct {
  rowv block, total;
  int count;
} BlockSum;

inline void block_add(BlockSum* sum, rowv v) {
  sum->block += v;
  if (++sum->count < 64) return;
  sum->total += sum->block;
  sum->block = 0.0f;
  sum->count = 0;
}

#define EMPTY_SUM {0.0f, 0.0f, 0}
#define block_total(sum) row_sum((sum).total + (sum).block)

// A sum with its rounding error carried along (Kahan, in Neumaier's form).
typedef struct {
  float total, lost;
} ExactSum;

inline void exact_add(ExactSum* sum, float v) {
  const float next = sum->total + v;
  sum->lost += fabs(sum->total) >= fabs(v) ? (sum->total - next) + v : (v - next) + sum->total;
  sum->total = next;
}

// Infinity has no rounding error, but infinity - infinity was taken for one.
inline float exact_total(const ExactSum* sum) { return isfinite(sum->total) ? sum->total + sum->lost : sum->total; }
