// A matrix unit in plain OpenCL C. It has the layout of the unit that UNIT names. Each item computes its own numbers
// from local memory. A fragment is (the address of the operand, its first row, its first word). It is an OpenCL vector,
// because kernels must not copy structs.
typedef ulong4 FragmentA;
typedef FragmentA FragmentB;

INLINE FragmentA fragment_a(__local const uint* operand, int row, int step) {
  return (ulong4)((ulong)operand, (ulong)row, (ulong)(step * STEP_WORDS), 0);
}
#define fragment_b fragment_a

// Adds the products of a word's elements to `sum`.
INLINE float product_of(uint a, uint b, float sum) {
#if PRECISION == PRECISION_TF32
  return fma(as_float(a), as_float(b), sum);
#elif PRECISION == PRECISION_FP16
  const ushort halves[4] = {(ushort)a, (ushort)b, (ushort)(a >> 16), (ushort)(b >> 16)};
  const half* from = (const half*)halves;
  return fma(vload_half(2, from), vload_half(3, from), fma(vload_half(0, from), vload_half(1, from), sum));
#else
  return fma(as_float(a & 0xffff0000u), as_float(b & 0xffff0000u), fma(as_float(a << 16), as_float(b << 16), sum));
#endif
}

INLINE void fragment_multiply(float* acc, FragmentA a, FragmentB b) {
  __local const uint *from_a = (__local const uint*)a.x, *from_b = (__local const uint*)b.x;
  for (int i = 0; i < ACC; ++i) {
    const int row = (int)a.y + acc_row(i, get_local_id(0)), column = (int)b.y + acc_column(i, get_local_id(0));
    for (int word = 0; word < STEP_WORDS; ++word)
      acc[i] = product_of(from_a[place_of_word(row, (int)a.z + word)], from_b[place_of_word(column, (int)b.z + word)],
                          acc[i]);
  }
}
