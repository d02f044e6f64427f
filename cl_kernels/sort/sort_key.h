// Unsigned keys of 32 bits that have the order of the elements. -0 equals 0. NaN comes last, whatever its bits are.
//
// KEY(p, i) is the key of element i of p, whose type in memory is MEMORY. TYPE is float, half, bfloat, char, short,
// int, uchar, ushort or uint. long_low and long_high give the halves of a 64-bit key, and double_low and double_high
// those of the key of a double, whose bits are read as a long. Elements with such keys are sorted twice, by each half.
#ifndef TYPE
#define TYPE float
#endif

static inline uint key_of_float(const float x) {
  const uint bits = x == 0.0f ? 0u : as_uint(x);
  return isnan(x) ? 0xffffffffu : bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

static inline ulong key_of_double(const ulong x) {
  const ulong sign = (ulong)1 << 63, size = x & ~sign, bits = size == 0 ? 0 : x;
  return size > (ulong)0x7ff << 52 ? ~(ulong)0 : bits ^ (bits >> 63 ? ~(ulong)0 : sign);
}

static inline uint16 keys_of_floats(const float16 x) {
  const uint16 bits = select(as_uint16(x), (uint16)0u, x == 0.0f);
  const uint16 keys = bits ^ (as_uint16(as_int16(bits) >> 31) | 0x80000000u);
  return select(keys, (uint16)0xffffffffu, isnan(x));
}

// The vector goes through an aligned array, because PoCL 3.1 moves half vectors as if they were always aligned. The
// compiler removes the array.
static inline float16 load_16_halves(__global const half* p) {
  ushort lanes[16] __attribute__((aligned(32)));
  vstore16(vload16(0, (__global const ushort*)p), 0, lanes);
  return vload_half16(0, (const half*)lanes);
}

#define MEMORY_float float
#define MEMORY_half half
#define MEMORY_bfloat ushort
#define MEMORY_int int
#define MEMORY_char char
#define MEMORY_short short
#define MEMORY_ushort ushort
#define MEMORY_uint uint
#define MEMORY_uchar uchar
#define MEMORY_long_low long
#define MEMORY_long_high long
#define MEMORY_ulong_low ulong
#define MEMORY_ulong_high ulong
#define MEMORY_double_low ulong
#define MEMORY_double_high ulong

// The types with which elements are moved. Without fp16, kernels cannot load and store the type half.
#define MOVED_float uint
#define MOVED_half ushort
#define MOVED_bfloat ushort
#define MOVED_int uint
#define MOVED_char uchar
#define MOVED_short ushort
#define MOVED_ushort ushort
#define MOVED_uint uint
#define MOVED_uchar uchar
#define MOVED_long_low ulong
#define MOVED_long_high ulong
#define MOVED_ulong_low ulong
#define MOVED_ulong_high ulong
#define MOVED_double_low ulong
#define MOVED_double_high ulong

#define KEY_float(p, i) key_of_float((p)[i])
#define KEY_half(p, i) key_of_float(vload_half(i, p))
#define KEY_bfloat(p, i) key_of_float(as_float((uint)(p)[i] << 16))
#define KEY_int(p, i) ((uint)(p)[i] ^ 0x80000000u)
#define KEY_char(p, i) ((uint)(p)[i] ^ 0x80000000u)
#define KEY_short(p, i) ((uint)(p)[i] ^ 0x80000000u)
#define KEY_ushort(p, i) ((uint)(p)[i])
#define KEY_uint(p, i) ((uint)(p)[i])
#define KEY_uchar(p, i) ((uint)(p)[i])
#define KEY_long_low(p, i) ((uint)(p)[i])
#define KEY_long_high(p, i) ((uint)((ulong)(p)[i] >> 32) ^ 0x80000000u)
#define KEY_ulong_low(p, i) ((uint)(p)[i])
#define KEY_ulong_high(p, i) ((uint)((p)[i] >> 32))
#define KEY_double_low(p, i) ((uint)key_of_double((p)[i]))
#define KEY_double_high(p, i) ((uint)(key_of_double((p)[i]) >> 32))

// The keys of elements i … i + 15.
#define KEYS_float(p, i) keys_of_floats(vload16(0, (p) + (i)))
#define KEYS_half(p, i) keys_of_floats(load_16_halves((p) + (i)))
#define KEYS_bfloat(p, i) keys_of_floats(as_float16(convert_uint16(vload16(0, (p) + (i))) << 16))
#define KEYS_int(p, i) (as_uint16(vload16(0, (p) + (i))) ^ 0x80000000u)
#define KEYS_char(p, i) (as_uint16(convert_int16(vload16(0, (p) + (i)))) ^ 0x80000000u)
#define KEYS_short(p, i) (as_uint16(convert_int16(vload16(0, (p) + (i)))) ^ 0x80000000u)
#define KEYS_ushort(p, i) convert_uint16(vload16(0, (p) + (i)))
#define KEYS_uint(p, i) convert_uint16(vload16(0, (p) + (i)))
#define KEYS_uchar(p, i) convert_uint16(vload16(0, (p) + (i)))

#define SORT_PASTE_(a, b) a##b
#define SORT_PASTE(a, b) SORT_PASTE_(a, b)
#define MEMORY SORT_PASTE(MEMORY_, TYPE)
#define MOVED SORT_PASTE(MOVED_, TYPE)
#define KEY(p, i) SORT_PASTE(KEY_, TYPE)(p, i)
#define KEYS(p, i) SORT_PASTE(KEYS_, TYPE)(p, i)

#define ENTRY(key, position) ((ulong)(key) << 32 | (ulong)(position))
