// Jacobi's method on rows (decompose/rows.h). A row holds w[i] and then v[i]. v starts as the unit matrix. A
// rotation of two rows changes w and v in the same way. So w[i] is always sum_j v[i, j] w0[j], where w0 is w at the
// beginning.
//
//   SYMMETRIC 0  the w[i] become orthogonal (Hestenes 1958): w0^T = U S V^T, where the v[i] are the columns of V, and the
//                w[i] are the columns of U, times the singular values
//   SYMMETRIC 1  w0 is symmetric, and the products v[i] w[j] vanish for i != j: the v[i] become eigenvectors of w0, and
//                v[i] w[i] eigenvalues
//
// ((a, g), (g, b)) is the 2 x 2 matrix of the scalar products of the rows p and q. The rotation (c p - s q, s p + c q)
// makes g zero, with
//
//   z = (b - a) / 2g     t = sign z / (|z| + sqrt(1 + z^2))     c = 1 / sqrt(1 + t^2)     s = c t
//
// A round rotates n / 2 pairs that have no row in common. The rounds of a sweep follow a tournament, so each row meets
// each other row once. moved (batch, sweeps) says whether a sweep rotated a pair. The sweep that rotates no pair is the
// last one.
#include "decompose/parameters.h"
#include "decompose/rows.h"
#ifndef SYMMETRIC
#define SYMMETRIC 0
#endif

// A row below this norm counts as zero. The largest element of w0 is between 1 and 2.
#ifdef REAL_IS_DOUBLE
#define TINY 1e-100
#else
#define TINY 1e-15f
#endif

INLINE void turn(__global REAL* p, __global REAL* q, const long chunks, const REAL s, const REAL tau) {
  EACH_ROW_CHUNK(c, 0, chunks) {
    const rowv at_p = CHUNK_OF(p, c), at_q = CHUNK_OF(q, c);
    CHUNK_OF(p, c) = at_p - s * (at_q + tau * at_p);
    CHUNK_OF(q, c) = at_q + s * (at_p - tau * at_q);
  }
}

// Rotates the rows if their product is too large, and returns whether it was. Products up to `least` count as 0.
// `least` is a factor of both norms, or an absolute number with SYMMETRIC.
INLINE bool rotate(__global REAL* p, __global REAL* q, const long w_chunks, const long chunks, const REAL least
#if GROUP > 1
                   , __local REAL* scratch
#endif
) {
  __global const REAL *left_p = p, *left_q = q;
  if (SYMMETRIC) {
    left_p += w_chunks * VW;
    left_q += w_chunks * VW;
  }
  rowv of_p = 0.0f, of_q = 0.0f, of_both = 0.0f;
  EACH_ROW_CHUNK(c, 0, w_chunks) {
    const rowv right_p = CHUNK_OF(p, c), right_q = CHUNK_OF(q, c), from_p = CHUNK_OF(left_p, c);
    of_p = ROW_FMA(from_p, right_p, of_p);
    of_q = ROW_FMA(CHUNK_OF(left_q, c), right_q, of_q);
    of_both = ROW_FMA(from_p, right_q, of_both);
  }
  const REAL a = row_sum(of_p), b = row_sum(of_q), g = row_sum(of_both);
  const bool moves = SYMMETRIC ? fabs(g) > least
                               : min(a, b) > TINY * TINY && fabs(g) > least * sqrt(a) * sqrt(b);
  if (moves) {
    const REAL z = (b - a) / (2.0f * g);
    const REAL t = fabs(z) > 1e9f ? 0.5f / z : copysign((REAL)1.0f, z) / (fabs(z) + sqrt(1.0f + z * z));
    // c = 1 - s tau. Written with tau, a small rotation keeps the rows' length to more digits than c has.
    const REAL c = 1.0f / sqrt(1.0f + t * t), s = c * t, tau = s / (1.0f + c);
    turn(p, q, w_chunks, s, tau);
    turn(p + w_chunks * VW, q + w_chunks * VW, chunks - w_chunks, s, tau);
  }
  return moves;
}

#if GROUP > 1
#define ROTATE(p, q) rotate(p, q, sizes.w_chunks, sizes.chunks, least, scratch)
#else
#define ROTATE(p, q) rotate(p, q, sizes.w_chunks, sizes.chunks, least)
#endif

// Rounds begin … end - 1 of all sweeps. With SYMMETRIC `least` is a factor of `norms` (batch).
ROW_KERNEL void jacobi_rounds(__global REAL* restrict x, const ulong x_offset, __global const REAL* restrict norms,
                              const ulong norms_offset, __global int* restrict moved, const ulong moved_offset,
                              const JacobiParameters sizes, const REAL tolerance, const long begin, const long end) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(sizes.matrices * sizes.slots);
  const long matrix = ROW_ID / sizes.slots, slot = ROW_ID % sizes.slots, n = sizes.n;
  const long players = n + n % 2, rounds = players - 1, row_size = sizes.chunks * VW;
  const REAL least = SYMMETRIC ? tolerance * norms[norms_offset + matrix] : tolerance;
  x += x_offset + matrix * n * row_size;
  moved += moved_offset + matrix * sizes.sweeps;
  for (long t = begin; t < end && (t < rounds || moved[t / rounds - 1] != 0); ++t) {
    const long round = t % rounds;
    bool any = false;
    // If n is odd, pair 0 has one row only.
    for (long k = n % 2 + slot; k < players / 2; k += sizes.slots) {
      const long i = (round + k) % rounds, j = k == 0 ? rounds : (round - k + rounds) % rounds;
      any |= ROTATE(x + min(i, j) * row_size, x + max(i, j) * row_size);
    }
    if (any && LANE_ID == 0) atomic_or(&moved[t / rounds], 1);
  }
}

// Makes w[i] and v[i] of length 1. values (batch, n) gets the singular values |w| / |v|, or the eigenvalues w v / v v,
// times scales (batch). Rows that are too short become zero. If there is no v (w_chunks is chunks), |v| counts as 1.
ROW_KERNEL void jacobi_values(__global REAL* restrict x, const ulong x_offset, __global const REAL* restrict scales,
                              const ulong scales_offset, __global REAL* restrict values, const ulong values_offset,
                              const long rows, const long n, const long w_chunks, const long chunks) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(rows);
  __global REAL* w = x + x_offset + ROW_ID * chunks * VW;
  __global REAL* v = w + w_chunks * VW;
  REAL of_w, of_v, of_both = 0.0f;
  ROW_DOT(of_w, w, w, w_chunks)
  ROW_DOT(of_v, v, v, chunks - w_chunks)
  if (SYMMETRIC) ROW_DOT(of_both, w, v, w_chunks)
  const REAL length = chunks > w_chunks ? sqrt(of_v) : 1.0f, norm = sqrt(of_w), scale = scales[scales_offset + ROW_ID / n];
  const REAL w_factor = norm <= TINY ? 0.0f : 1.0f / norm, v_factor = 1.0f / length;
  EACH_ROW_CHUNK(c, 0, w_chunks) CHUNK_OF(w, c) *= w_factor;
  EACH_ROW_CHUNK(c, 0, chunks - w_chunks) CHUNK_OF(v, c) *= v_factor;
  if (LANE_ID == 0) values[values_offset + ROW_ID] = scale * (SYMMETRIC ? of_both / of_v : norm * v_factor);
}
