// Stores that bypass the caches. With PAIRS, a lane of a vector in memory is a pair of bfloats. f of the first numbers
// of all pairs and f of the second ones make a vector of pairs again. So nothing is widened or narrowed, and the stores
// are of whole vectors. Intel's compiler joins a narrowing and its store, which then goes through the caches.
#ifdef STREAM
#if !__has_builtin(__builtin_nontemporal_store)
#undef STREAM
#endif
#endif
// Stores that bypass the caches; p is a multiple of whole vectors.
#define STREAM_V(type, p, v) OF_TYPE(STREAM_, type)(p, v)
#define STREAM_AS(type, p, v) __builtin_nontemporal_store(TO_V(type, v), (__global OF_TYPE(type, VW)*)(p))
#define STREAM_float(p, v) STREAM_AS(float, p, v)
#define STREAM_double(p, v) STREAM_AS(double, p, v)
#define STREAM_int(p, v) STREAM_AS(int, p, v)
#define STREAM_long(p, v) STREAM_AS(long, p, v)
#define STREAM_char(p, v) STREAM_AS(char, p, v)
#define STREAM_short(p, v) STREAM_AS(short, p, v)
#define STREAM_uint(p, v) STREAM_AS(uint, p, v)
#define STREAM_ulong(p, v) STREAM_AS(ulong, p, v)
#define STREAM_uchar(p, v) STREAM_AS(uchar, p, v)
#define STREAM_ushort(p, v) STREAM_AS(ushort, p, v)
#define STREAM_boolean(p, v) STREAM_AS(uchar, p, v)
#define STREAM_half(p, v) __builtin_nontemporal_store(half_bits(v), (__global OF_TYPE(ushort, VW)*)(p))
#define STREAM_bfloat(p, v) __builtin_nontemporal_store(JOIN(bfloat_bits, VW)(v), (__global OF_TYPE(ushort, VW)*)(p))

#ifdef PAIRS
#ifdef STREAM
#define UINTV OF_TYPE(uint, VW)
typedef UINTV pairs_of_inputs __attribute__((aligned(2)));
#define READ_PAIRS(k, type, R) const UINTV pairs##k = *(__global const pairs_of_inputs*)(p##k + at);
// Pairs of elements of one row, if the last axis of each input has the step 0 or 1.
#define TEST_STEP(k, type, R) && (ulong)p##k##_step[last] < 2
#define LOAD_PAIRS(k, type, R)                                                            \
  UINTV pairs##k;                                                                         \
  if (p##k##_step[last] == 1) {                                                           \
    pairs##k = *(__global const pairs_of_inputs*)(p##k + p##k##_row + column);            \
  } else {                                                                                \
    pairs##k = (UINTV)(p##k[p##k##_row] | (uint)p##k[p##k##_row] << 16);                  \
  }
#define LOWER_HALVES(k, type, R) x##k = OF_TYPE(as_float, VW)(pairs##k << 16);
#define UPPER_HALVES(k, type, R) x##k = OF_TYPE(as_float, VW)(pairs##k & 0xffff0000u);
#define ROUND_LOWER(k, type, R) const UINTV lower##k = OF_TYPE(upper_bfloats, VW)(y##k) >> 16;
#define WRITE_PAIRS(k, type, R) \
  stream_pairs(lower##k | (OF_TYPE(upper_bfloats, VW)(y##k) & 0xffff0000u), (__global uint*)(q##k + at));
// Computes the outputs at `at` from the pairs of the inputs.
#define COMPUTE_PAIRS       \
  EACH_INPUT(LOWER_HALVES)  \
  CALL(of_vector);          \
  EACH_OUTPUT(ROUND_LOWER)  \
  EACH_INPUT(UPPER_HALVES)  \
  CALL(of_vector);          \
  EACH_OUTPUT(WRITE_PAIRS)
// Computes pairs of a row from `column` on, and moves `column` behind them.
#define COMPUTE_PAIRS_OF_ROW                                            \
  if (true EACH_INPUT(TEST_STEP)) {                                     \
    for (; column + 2 * VW <= end; column += 2 * VW) {                  \
      const long at = q_row + column;                                   \
      EACH_INPUT(LOAD_PAIRS)                                            \
      COMPUTE_PAIRS                                                     \
    }                                                                   \
  }
// Outputs begin with 16 bfloats, which are half a vector of 16 pairs.
INLINE void stream_pairs(const UINTV v, __global uint* to) {
#if VW == 16
  __builtin_nontemporal_store(v.lo, (__global uint8*)to);
  __builtin_nontemporal_store(v.hi, (__global uint8*)(to + 8));
#else
  __builtin_nontemporal_store(v, (__global UINTV*)to);
#endif
}
#else
#undef PAIRS
#endif
#endif
#ifndef PAIRS
#define COMPUTE_PAIRS_OF_ROW
#endif
