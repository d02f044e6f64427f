// In memory, elements have the type float, half, double, bfloat (the upper half of a float), char, short, int, long,
// uchar, ushort, uint, ulong or boolean (0 or 1 in a uchar). Kernels compute with values in registers. STORED is the
// type of the elements that a kernel reads and stores. The host defines it if it is not float.
//
//   LOAD(type, p, i)               the value of element i of p, for float, half, bfloat and double
//   STORE(type, p, i, value)       the reverse
//   LOAD_QUAD(type, p, i)          the values of elements 4i … 4i+3, which begin at a multiple of four elements
//   LOAD_FOUR(type, p)             the values of elements 0 … 3 of p
//   STORE_FOUR(type, p, values)    the reverse
//
// With vectors of VW values, if vector.h is included before this file:
//
//   LOAD_MANY(type, p)             the values of elements 0 … VW-1 of p, for float, half and bfloat
//   STORE_MANY(type, p, values)    the reverse
//   VLOAD(type, p), VSTORE(type, p, values)    the same by vload and vstore, which PoCL splits (vector.h)
//
// Kernels in which values of several types meet choose the type R of a register: float, double, int, long or ulong.
//
//   LOAD_S(type, R, p, i)  LOAD_V(type, R, p, i)          element i, or elements i … i+VW-1, of p
//   STORE_S(type, p, i, s)  STORE_V(type, p, i, v)        the reverse: stores s, or stores v
//   LOAD_LANES(type, R, v, p, i, step, count)             v = elements i, i+step, … : count of them, then zeros
//   STORE_LANES(type, R, p, i, step, count, v)            the first count lanes to elements i, i+step, …
//
// Conversions follow C: floats become integers by rounding toward zero. half and bfloat are rounded to
// nearest even.
#include "common/inline.h"

#ifndef STORED
#define STORED float
#define STORED_IS_FLOAT
#endif

typedef uchar boolean;
typedef ushort bfloat;

#define OF_TYPE_(a, b) a##b
#define OF_TYPE(a, b) OF_TYPE_(a, b)
#define LOAD(type, p, i) OF_TYPE(LOAD_, type)(p, i)
#define STORE(type, p, i, value) OF_TYPE(STORE_, type)(p, i, value)
#define LOAD_QUAD(type, p, i) OF_TYPE(LOAD_QUAD_, type)(p, i)
#define LOAD_FOUR(type, p) OF_TYPE(LOAD_FOUR_, type)(p)
#define STORE_FOUR(type, p, values) OF_TYPE(STORE_FOUR_, type)(p, values)

// A carry from the rounded bits makes the exponent larger, so overflow becomes infinity. Rounding could turn a NaN into
// infinity, so a NaN gets a bit that stays.
INLINE ushort bfloat_bits(const float v) {
  const uint bits = as_uint(v);
  return (ushort)(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
// On CPUs, PoCL's and Intel's conversions of vectors of ushort go element by element. Clang's builtin takes one or two
// instructions. A comparison of numbers with a sign takes one, and one without a sign three.
#if defined(CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_convertvector)
#define RESIZED(T, x) __builtin_convertvector(x, T)
#endif
#endif
#ifndef RESIZED
#define RESIZED(T, x) OF_TYPE(convert_, T)(x)
#endif
// upper_bfloats rounds, and has the bits in the upper halves of the lanes, above others.
#define DEFINE_BFLOATS(width)                                                                             \
  INLINE float##width floats_of##width(const ushort##width bits) {                                        \
    return as_float##width(RESIZED(uint##width, bits) << 16);                                             \
  }                                                                                                       \
  INLINE uint##width upper_bfloats##width(const float##width v) {                                         \
    const uint##width bits = as_uint##width(v);                                                           \
    return select(bits + 0x7fffu + (bits >> 16 & 1u), bits | 0x400000u,                                   \
                  as_int##width(bits & 0x7fffffffu) > 0x7f800000);                                        \
  }                                                                                                       \
  INLINE ushort##width bfloat_bits##width(const float##width v) {                                         \
    return RESIZED(ushort##width, upper_bfloats##width(v) >> 16);                                         \
  }
DEFINE_BFLOATS(2)
DEFINE_BFLOATS(4)
DEFINE_BFLOATS(8)
DEFINE_BFLOATS(16)

// PoCL converts a single half in a dozen instructions. F16C is an extension of x86 that does it in one.
#if defined(__clang__) && defined(__F16C__)
#define DEFINE_HALF(space)                                                                     \
  INLINE __attribute__((overloadable)) float load_half(long i, const space half* p) {          \
    float4 v;                                                                                  \
    __asm__("vcvtph2ps %1, %0" : "=v"(v) : "v"((int4)(((const space ushort*)p)[i], 0, 0, 0))); \
    return v.x;                                                                                \
  }                                                                                            \
  INLINE __attribute__((overloadable)) void store_half(float value, long i, space half* p) {   \
    ushort8 bits;                                                                              \
    __asm__("vcvtps2ph $0, %1, %0" : "=v"(bits) : "v"((float4)(value)));                       \
    ((space ushort*)p)[i] = bits.s0;                                                           \
  }
DEFINE_HALF(__global)
DEFINE_HALF(__local)
DEFINE_HALF(__private)
#else
#define load_half vload_half
#define store_half vstore_half
#endif

#define LOAD_float(p, i) (p)[i]
#define LOAD_half(p, i) load_half(i, p)
#define LOAD_bfloat(p, i) as_float((uint)(p)[i] << 16)
#define LOAD_double(p, i) (p)[i]
#define STORE_float(p, i, value) (p)[i] = value
#define STORE_half(p, i, value) store_half(value, i, p)
#define STORE_bfloat(p, i, value) (p)[i] = bfloat_bits(value)
#define STORE_double(p, i, value) (p)[i] = value
#define LOAD_QUAD_float(p, i) ((__global const float4*)(p))[i]
#define LOAD_QUAD_half(p, i) vload_half4(i, p)
#define LOAD_QUAD_bfloat(p, i) floats_of4(((__global const ushort4*)(p))[i])
#define LOAD_FOUR_float(p) vload4(0, p)
#define LOAD_FOUR_half(p) vload_half4(0, p)
#define LOAD_FOUR_bfloat(p) floats_of4(vload4(0, p))
#define STORE_FOUR_float(p, values) vstore4(values, 0, p)
#define STORE_FOUR_half(p, values) vstore_half4(values, 0, p)
#define STORE_FOUR_bfloat(p, values) vstore4(bfloat_bits4(values), 0, p)

#ifdef floatv
#define LOAD_MANY(type, p) OF_TYPE(LOAD_MANY_, type)(p)
#define STORE_MANY(type, p, values) OF_TYPE(STORE_MANY_, type)(p, values)
#define LOAD_MANY_float(p) UNALIGNED_CONST(p)
#define LOAD_MANY_half(p) load_halves(p)
#define LOAD_MANY_bfloat(p) load_bfloats(p)
#define STORE_MANY_float(p, values) UNALIGNED(p) = values
#define STORE_MANY_half(p, values) store_halves(p, values)
#define STORE_MANY_bfloat(p, values) store_bfloats(p, values)
#define VLOAD(type, p) OF_TYPE(VLOAD_, type)(p)
#define VSTORE(type, p, values) OF_TYPE(VSTORE_, type)(p, values)
#define VLOAD_float(p) vloadv(0, p)
#define VLOAD_half(p) load_halves(p)
#define VLOAD_bfloat(p) load_bfloats(p)
#define VSTORE_float(p, values) vstorev(values, 0, p)
#define VSTORE_half(p, values) store_halves(p, values)
#define VSTORE_bfloat(p, values) store_bfloats(p, values)

// WHOLE_VECTORS means that every pointer is a multiple of whole vectors. A GPU then moves a vector with one
// instruction.
#ifdef WHOLE_VECTORS
#define READ_V(type, p, i) (*(__global const JOIN(type, VW)*)((p) + (i)))
#define WRITE_V(type, p, i, v) (*(__global JOIN(type, VW)*)((p) + (i)) = (v))
#else
#define READ_V(type, p, i) JOIN(vload, VW)(0, (p) + (i))
#define WRITE_V(type, p, i, v) JOIN(vstore, VW)(v, 0, (p) + (i))
#endif

#define LOAD_S(type, R, p, i) OF_TYPE(LOAD_S_, type)(R, p, i)
#define LOAD_V(type, R, p, i) OF_TYPE(LOAD_V_, type)(R, p, i)
#define STORE_S(type, p, i, s) OF_TYPE(STORE_S_, type)(p, i, s)
#define STORE_V(type, p, i, v) OF_TYPE(STORE_V_, type)(p, i, v)

#define TO_S(R, x) OF_TYPE(convert_, R)(x)
#define TO_V(R, x) OF_TYPE(OF_TYPE(convert_, R), VW)(x)

#define LOAD_S_float(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_double(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_int(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_long(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_char(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_short(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_uint(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_ulong(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_uchar(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_ushort(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_boolean(R, p, i) TO_S(R, (p)[i])
#define LOAD_S_half(R, p, i) LOAD_half(p, i)
#define LOAD_S_bfloat(R, p, i) LOAD_bfloat(p, i)
#define LOAD_V_float(R, p, i) TO_V(R, READ_V(float, p, i))
#define LOAD_V_double(R, p, i) TO_V(R, READ_V(double, p, i))
#define LOAD_V_int(R, p, i) TO_V(R, READ_V(int, p, i))
#define LOAD_V_long(R, p, i) TO_V(R, READ_V(long, p, i))
#define LOAD_V_char(R, p, i) TO_V(R, READ_V(char, p, i))
#define LOAD_V_short(R, p, i) TO_V(R, READ_V(short, p, i))
#define LOAD_V_uint(R, p, i) TO_V(R, READ_V(uint, p, i))
#define LOAD_V_ulong(R, p, i) TO_V(R, READ_V(ulong, p, i))
#define LOAD_V_uchar(R, p, i) TO_V(R, READ_V(uchar, p, i))
#define LOAD_V_ushort(R, p, i) TO_V(R, READ_V(ushort, p, i))
#define LOAD_V_boolean(R, p, i) TO_V(R, READ_V(uchar, p, i))
#define LOAD_V_half(R, p, i) load_halves((p) + (i))
#define LOAD_V_bfloat(R, p, i) load_bfloats((p) + (i))

#define STORE_S_float(p, i, s) (p)[i] = convert_float(s)
#define STORE_S_double(p, i, s) (p)[i] = convert_double(s)
#define STORE_S_int(p, i, s) (p)[i] = convert_int(s)
#define STORE_S_long(p, i, s) (p)[i] = convert_long(s)
#define STORE_S_char(p, i, s) (p)[i] = convert_char(s)
#define STORE_S_short(p, i, s) (p)[i] = convert_short(s)
#define STORE_S_uint(p, i, s) (p)[i] = convert_uint(s)
#define STORE_S_ulong(p, i, s) (p)[i] = convert_ulong(s)
#define STORE_S_uchar(p, i, s) (p)[i] = convert_uchar(s)
#define STORE_S_ushort(p, i, s) (p)[i] = convert_ushort(s)
// A vector's true condition is -1. The store masks it, because oclgrind keeps -1 even if earlier code turned it into 1.
#define STORE_S_boolean(p, i, s) (p)[i] = convert_uchar(s) & (uchar)1
#define STORE_S_half(p, i, s) STORE_half(p, i, s)
#define STORE_S_bfloat(p, i, s) STORE_bfloat(p, i, s)
#define STORE_V_float(p, i, v) WRITE_V(float, p, i, JOIN(convert_float, VW)(v))
#define STORE_V_double(p, i, v) WRITE_V(double, p, i, JOIN(convert_double, VW)(v))
#define STORE_V_int(p, i, v) WRITE_V(int, p, i, JOIN(convert_int, VW)(v))
#define STORE_V_long(p, i, v) WRITE_V(long, p, i, JOIN(convert_long, VW)(v))
#define STORE_V_char(p, i, v) WRITE_V(char, p, i, JOIN(convert_char, VW)(v))
#define STORE_V_short(p, i, v) WRITE_V(short, p, i, JOIN(convert_short, VW)(v))
#define STORE_V_uint(p, i, v) WRITE_V(uint, p, i, JOIN(convert_uint, VW)(v))
#define STORE_V_ulong(p, i, v) WRITE_V(ulong, p, i, JOIN(convert_ulong, VW)(v))
#define STORE_V_uchar(p, i, v) WRITE_V(uchar, p, i, JOIN(convert_uchar, VW)(v))
#define STORE_V_ushort(p, i, v) WRITE_V(ushort, p, i, JOIN(convert_ushort, VW)(v))
#define STORE_V_boolean(p, i, v) WRITE_V(uchar, p, i, JOIN(convert_uchar, VW)(v) & (uchar)1)
#define STORE_V_half(p, i, v) store_halves((p) + (i), v)
#define STORE_V_bfloat(p, i, v) store_bfloats((p) + (i), v)

#define LOAD_LANES(type, R, v, p, i, step, count)                                    \
  {                                                                                  \
    R lanes[VW];                                                                     \
    for (int lane = 0; lane < VW; ++lane)                                            \
      lanes[lane] = lane < (count) ? LOAD_S(type, R, p, (i) + lane * (step)) : (R)0; \
    v = JOIN(vload, VW)(0, lanes);                                                   \
  }
#define STORE_LANES(type, R, p, i, step, count, v)                                                 \
  {                                                                                                \
    R lanes[VW];                                                                                   \
    JOIN(vstore, VW)(v, 0, lanes);                                                                 \
    for (int lane = 0; lane < (count); ++lane) STORE_S(type, p, (i) + lane * (step), lanes[lane]); \
  }

// PoCL 3.1 moves half vectors as if they were always aligned, and splits vload and vstore of ushort into elements.
// So the bits are moved as a vector that is aligned to an element, and converted in a register.
typedef JOIN(ushort, VW) unaligned_ushortv __attribute__((aligned(2)));

// LLVM compares halves instead of the floats that they become, where it can. x86 has no such instruction, so each lane
// is then converted alone: a sigmoid takes three times as long. LLVM does not look into assembly.
#if defined(__clang__) && ((VW == 8 && defined(__F16C__)) || (VW == 16 && defined(__AVX512F__)))
INLINE floatv load_halves(__global const half* p) {
  const JOIN(ushort, VW) bits = *(__global const unaligned_ushortv*)p;
  floatv v;
  __asm__("vcvtph2ps %1, %0" : "=v"(v) : "v"(bits));
  return v;
}
#else
INLINE floatv load_halves(__global const half* p) {
  const JOIN(ushort, VW) bits = *(__global const unaligned_ushortv*)p;
  return JOIN(vload_half, VW)(0, (const half*)&bits);
}
#endif

INLINE JOIN(ushort, VW) half_bits(const floatv v) {
  JOIN(ushort, VW) bits;
  JOIN(vstore_half, VW)(v, 0, (half*)&bits);
  return bits;
}

INLINE void store_halves(__global half* p, const floatv v) { *(__global unaligned_ushortv*)p = half_bits(v); }

INLINE floatv load_bfloats(__global const bfloat* p) {
  return JOIN(floats_of, VW)(*(__global const unaligned_ushortv*)p);
}

INLINE void store_bfloats(__global bfloat* p, const floatv v) {
  *(__global unaligned_ushortv*)p = JOIN(bfloat_bits, VW)(v);
}
#endif
