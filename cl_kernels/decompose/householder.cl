// QR by Householder's reflections, as in LAPACK's geqrf and orgqr. The columns of a matrix are rows (decompose/rows.h),
// (batch, n, m). Reflection t is 1 - tau u u^T. u has zeros before place t and a 1 in place t. Column t becomes R[0 …
// t, t], followed by the rest of u. taus is (batch, steps), where steps is min(m, n). Q is the product of the
// reflections.
#include "decompose/parameters.h"
#include "decompose/rows.h"

// Chunk c of a column, with zeros above place t and with `at` in place t.
INLINE rowv chunk_from(__global const REAL* column, const long c, const long t, const REAL at) {
  const rowv v = CHUNK_OF(column, c);
#if VW > 1
  if (c != t / VW) return v;
  const intv place = LANES - (intv)((int)(t % VW));
  return place < (intv)(0) ? (rowv)(0.0f) : place == (intv)(0) ? (rowv)(at) : v;
#else
  return c == t ? at : v;
#endif
}

// to -= tau u (u to), with the vector u of reflection t.
#define REFLECT(column, t, tau, to)                                                                   \
  {                                                                                                   \
    __global const REAL* column_ = column;                                                           \
    __global REAL* to_ = to;                                                                         \
    rowv part_ = 0.0f;                                                                                \
    EACH_ROW_CHUNK(c_, (t) / VW, chunks)                                                              \
      part_ = ROW_FMA(chunk_from(column_, c_, t, 1.0f), CHUNK_OF(to_, c_), part_);                    \
    const REAL factor_ = (tau) * row_sum(part_);                                                     \
    EACH_ROW_CHUNK(c_, (t) / VW, chunks) CHUNK_OF(to_, c_) -= factor_ * chunk_from(column_, c_, t, 1.0f); \
  }

// Computes reflection t from a column: tau goes to *tau, R[t, t] to place t, and the rest of u to the places after it.
#define MAKE_REFLECTION(column, t, tau)                                                              \
  {                                                                                                  \
    __global REAL* column_ = column;                                                                \
    rowv part_ = 0.0f;                                                                               \
    EACH_ROW_CHUNK(c_, (t) / VW, chunks) {                                                           \
      const rowv v_ = chunk_from(column_, c_, t, 0.0f);                                              \
      part_ = ROW_FMA(v_, v_, part_);                                                                \
    }                                                                                                \
    const REAL below_ = row_sum(part_), top_ = TOP(column_, t);                                     \
    /* A column whose rest is zero, or NaN, gets no reflection. 0 * top is NaN if top is NaN. */     \
    const bool turns_ = below_ > 0.0f;                                                               \
    const REAL r_ = turns_ ? -copysign(sqrt(top_ * top_ + below_), top_) : top_;                    \
    const REAL factor_ = turns_ ? 1.0f / (top_ - r_) : 1.0f;                                        \
    EACH_ROW_CHUNK(c_, (t) / VW + 1, chunks) CHUNK_OF(column_, c_) *= factor_;                       \
    if (LANE_ID == (t) / VW % GROUP) {                                                               \
      for (long i_ = (t) + 1; i_ < ((t) / VW + 1) * VW; ++i_) column_[i_] *= factor_;                \
      column_[t] = r_;                                                                               \
      *(tau) = turns_ ? (r_ - top_) / r_ : 0.0f * top_;                                              \
    }                                                                                                \
  }
// Place t of a column belongs to one work-item.
#if GROUP > 1
#define TOP(column, t) row_sum(LANE_ID == (t) % GROUP ? (column)[t] : 0.0f)
#else
#define TOP(column, t) (column)[t]
#endif

// Steps begin … end - 1. Step t applies reflection t - 1 to the columns from t on, and computes reflection t from
// column t.
ROW_KERNEL void householder_steps(__global REAL* restrict x, const ulong x_offset, __global REAL* restrict taus,
                                  const ulong taus_offset, const ReflectionParameters sizes, const long begin,
                                  const long end) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(sizes.matrices * sizes.slots);
  const long matrix = ROW_ID / sizes.slots, slot = ROW_ID % sizes.slots, chunks = sizes.chunks;
  x += x_offset + matrix * sizes.n * chunks * VW;
  taus += taus_offset + matrix * sizes.steps;
  for (long t = begin; t < end; ++t) {
    if (t > 0)
      for (long j = t + slot; j < sizes.n; j += sizes.slots)
        REFLECT(x + (t - 1) * chunks * VW, t - 1, taus[t - 1], x + j * chunks * VW)
    // It runs at most once. It is a loop, because PoCL 3.1 gives wrong sums for a barrier within a condition.
    for (long turn = slot; turn < 1 && t < sizes.steps; ++turn) MAKE_REFLECTION(x + t * chunks * VW, t, taus + t)
  }
}

// The first `slots` columns of Q, as rows q (batch, slots, m). A group applies the reflections begin … end - 1, counted
// from the last one, to one column. The columns start as unit vectors.
ROW_KERNEL void householder_columns(__global const REAL* restrict x, const ulong x_offset,
                                    __global const REAL* restrict taus, const ulong taus_offset,
                                    __global REAL* restrict q, const ulong q_offset,
                                    const ReflectionParameters sizes, const long begin, const long end) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(sizes.matrices * sizes.slots);
  const long matrix = ROW_ID / sizes.slots, j = ROW_ID % sizes.slots, steps = sizes.steps, chunks = sizes.chunks;
  x += x_offset + matrix * sizes.n * chunks * VW;
  taus += taus_offset + matrix * steps;
  q += q_offset + ROW_ID * chunks * VW;
  if (begin == 0) {
    EACH_ROW_CHUNK(c, 0, chunks) CHUNK_OF(q, c) = 0.0f;
    if (LANE_ID == j / VW % GROUP) q[j] = 1.0f;
  }
  // Reflections after t = j leave the column as it is.
  for (long t = min(steps - 1 - begin, j); t >= steps - end; --t) REFLECT(x + t * chunks * VW, t, taus[t], q)
}
