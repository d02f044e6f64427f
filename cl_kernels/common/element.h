// Elements in memory of type float, half, int, long, uchar, boolean (0 or 1 in a uchar) or ushort, computed with as S or as vectors V of VW of them.
//
//   LOAD_S(type, p, i)  LOAD_V(type, p, i)          element i, or elements i … i+VW-1, of p as S or V
//   STORE_S(type, p, i, s)  STORE_V(type, p, i, v)  the other way
//
// Conversions are C's: floats become integers toward zero. half is rounded to nearest even.
#ifndef VW
#define VW 16
#endif
#ifndef S
#define S float
#endif

#ifndef JOIN
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#endif
#define V JOIN(S, VW)

#define TO_S(x) JOIN(convert_, S)(x)
#define TO_V(x) JOIN(convert_, V)(x)

// ALIGNED: every pointer is a multiple of whole vectors, so that a GPU moves a vector with one instruction.
#ifdef ALIGNED
#define READ_V(type, p, i) (*(__global const JOIN(type, VW)*)((p) + (i)))
#define WRITE_V(type, p, i, v) (*(__global JOIN(type, VW)*)((p) + (i)) = (v))
#else
#define READ_V(type, p, i) JOIN(vload, VW)(0, (p) + (i))
#define WRITE_V(type, p, i, v) JOIN(vstore, VW)(v, 0, (p) + (i))
#endif

typedef uchar boolean;

// A second paste, because what these choose pastes itself.
#define FOR_TYPE_(a, b) a##b
#define FOR_TYPE(a, b) FOR_TYPE_(a, b)
#define LOAD_S(type, p, i) FOR_TYPE(LOAD_S_, type)(p, i)
#define LOAD_V(type, p, i) FOR_TYPE(LOAD_V_, type)(p, i)
#define STORE_S(type, p, i, s) FOR_TYPE(STORE_S_, type)(p, i, s)
#define STORE_V(type, p, i, v) FOR_TYPE(STORE_V_, type)(p, i, v)

#define LOAD_S_float(p, i) TO_S((p)[i])
#define LOAD_S_int(p, i) TO_S((p)[i])
#define LOAD_S_long(p, i) TO_S((p)[i])
#define LOAD_S_uchar(p, i) TO_S((p)[i])
#define LOAD_S_ushort(p, i) TO_S((p)[i])
#define LOAD_S_boolean(p, i) LOAD_S_uchar(p, i)
#define LOAD_S_half(p, i) vload_half(i, p)
#define LOAD_V_float(p, i) TO_V(READ_V(float, p, i))
#define LOAD_V_int(p, i) TO_V(READ_V(int, p, i))
#define LOAD_V_long(p, i) TO_V(READ_V(long, p, i))
#define LOAD_V_uchar(p, i) TO_V(READ_V(uchar, p, i))
#define LOAD_V_ushort(p, i) TO_V(READ_V(ushort, p, i))
#define LOAD_V_boolean(p, i) LOAD_V_uchar(p, i)
#define LOAD_V_half(p, i) load_halves((p) + (i))

#define STORE_S_float(p, i, s) (p)[i] = convert_float(s)
#define STORE_S_int(p, i, s) (p)[i] = convert_int(s)
#define STORE_S_long(p, i, s) (p)[i] = convert_long(s)
#define STORE_S_uchar(p, i, s) (p)[i] = convert_uchar(s)
#define STORE_S_ushort(p, i, s) (p)[i] = convert_ushort(s)
// Vector conditions are -1 where true: oclgrind lets that through in 64-bit selections.
#define STORE_S_boolean(p, i, s) (p)[i] = convert_uchar(s) & (uchar)1
#define STORE_S_half(p, i, s) vstore_half(s, i, p)
#define STORE_V_float(p, i, v) WRITE_V(float, p, i, JOIN(convert_float, VW)(v))
#define STORE_V_int(p, i, v) WRITE_V(int, p, i, JOIN(convert_int, VW)(v))
#define STORE_V_long(p, i, v) WRITE_V(long, p, i, JOIN(convert_long, VW)(v))
#define STORE_V_uchar(p, i, v) WRITE_V(uchar, p, i, JOIN(convert_uchar, VW)(v))
#define STORE_V_ushort(p, i, v) WRITE_V(ushort, p, i, JOIN(convert_ushort, VW)(v))
#define STORE_V_boolean(p, i, v) WRITE_V(uchar, p, i, JOIN(convert_uchar, VW)(v) & (uchar)1)
#define STORE_V_half(p, i, v) store_halves((p) + (i), v)

// Through an aligned array, which the compiler removes: PoCL 3.1 moves half vectors as if they were always aligned.
inline JOIN(float, VW) load_halves(__global const half* p) {
  ushort lanes[VW] __attribute__((aligned(VW * 2)));
  JOIN(vstore, VW)(JOIN(vload, VW)(0, (__global const ushort*)p), 0, lanes);
  return JOIN(vload_half, VW)(0, (const half*)lanes);
}

inline void store_halves(__global half* p, JOIN(float, VW) v) {
  ushort lanes[VW] __attribute__((aligned(VW * 2)));
  JOIN(vstore_half, VW)(v, 0, (half*)lanes);
  JOIN(vstore, VW)(JOIN(vload, VW)(0, lanes), 0, (__global ushort*)p);
}
