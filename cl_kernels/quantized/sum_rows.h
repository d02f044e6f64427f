// The sums of ROWS rows of codes with an arranged x, by vpdpbusd (quantized/quantized_row_cpu.cl).
//
// An arranged x has FIRST_VECTORS vectors: the block of each lane, counted in its vector of codes, SHARED_NUMBER, and
// with GFNI HIGH_CODES_MATRIX. Then it has VECTORS vectors for each vector of codes: the upper, middle and lower bytes
// of its runs, the numbers at which the sums of upper bytes and of the rest start, and the units of its sides. With
// HAS_ZEROS, the sums of the columns of each block are behind them.
//
// GFNI says that the processor has two more instructions, which save two of 16 for codes of 4 bits. vgf2p8affineqb
// gives the upper halves of bytes. vpshldd shifts a number by 8 bits and puts the upper 8 bits of another one below it.
// So the sums start at START * 2^16 and the upper 16 bits of START_OF_REST.
//
// OpenCL C has no name for the instruction, and Intel's runtime takes no vectors as operands of assembly. So the whole
// loop over vectors is assembly. It saves the registers that it changes, behind the 128 bytes that a function may use
// without moving the stack pointer:
//
//    0 to 3    the sums of four rows             14        SHARED_NUMBER
//    4 to 9    the bytes of x                    15, 16    codes: all, or those of both runs
//   10, 11     where sums and their rest start   17, 18    sums of a vector, and of upper bytes
//   12         the units                         19        scales
//   13         the block of each lane            20, 21    START_OF_REST * 2^8, HIGH_CODES_MATRIX
#define ROWS 4
#define FIRST_VECTORS 3
#define MIDDLE RUNS
#define LOWER (2 * RUNS)
#define START (3 * RUNS)
#define START_OF_REST (3 * RUNS + 1)
#define UNITS (3 * RUNS + 2)
#define VECTORS (3 * RUNS + 3)

// Blocks of a vector: 4 or 2, or 1 if a block has one or more vectors.
#if GROUPS_OF_BLOCK == 0
#define BLOCKS_OF_VECTOR 4
#elif GROUPS_OF_BLOCK > 0 && GROUPS_OF_BLOCK < RUNS * 2
#define BLOCKS_OF_VECTOR (RUNS * 2 / GROUPS_OF_BLOCK)
#else
#define BLOCKS_OF_VECTOR 1
#endif

#define EACH_REGISTER ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21\n\t"
#define SAVE_REGISTERS         \
  "lea -128(%%rsp), %%rsp\n\t" \
  "sub $22*64, %%rsp\n\t" EACH_REGISTER "vmovdqu64 %%zmm\\i, \\i*64(%%rsp)\n\t.endr\n\t"
#define RESTORE_REGISTERS                          \
  EACH_REGISTER                                    \
  "vmovdqu64 \\i*64(%%rsp), %%zmm\\i\n\t.endr\n\t" \
  "add $22*64, %%rsp\n\t"                          \
  "lea 128(%%rsp), %%rsp"

#if BITS == 4
#define SHARED_NUMBER 0x0f0f0f0f
#define LOAD_X                      \
  ".irp i,4,5,6,7,8,9,10,11,12\n\t" \
  "vmovdqu64 (\\i-4)*64(%[x]), %%zmm\\i\n\t.endr\n\t"
#ifdef GFNI
#define HIGH_CODES_MATRIX 0x1020408000000000UL
#define LOAD_MATRIX "vmovdqu64 128(%[x]), %%zmm21\n\t"
#define SHIFT_START "vpslld $8, %%zmm11, %%zmm20\n\t"
#define HIGH_CODES "vgf2p8affineqb $0, %%zmm21, %%zmm15, %%zmm16\n\t"
#define SHIFT_SUMS(start) "vpshldd $8, " start ", %%zmm17, %%zmm17\n\t"
#define ADD_REST
#else
#define HIGH_CODES "vpsrld $4, %%zmm15, %%zmm16\n\tvpandd %%zmm14, %%zmm16, %%zmm16\n\t"
#define SHIFT_SUMS(start) "vpslld $8, %%zmm17, %%zmm17\n\t"
#define ADD_REST "vpaddd %%zmm11, %%zmm17, %%zmm17\n\t"
#endif
// A sum has 31 bits.
#define MULTIPLY(codes) \
  "vmovdqu64 " codes                      \
  ", %%zmm15\n\t"                         \
  "vmovdqa64 %%zmm10, %%zmm17\n\t" HIGH_CODES  \
  "vpandd %%zmm14, %%zmm15, %%zmm15\n\t"  \
  "vpdpbusd %%zmm4, %%zmm15, %%zmm17\n\t" \
  "vpdpbusd %%zmm5, %%zmm16, %%zmm17\n\t" SHIFT_SUMS("%%zmm11") \
  "vpdpbusd %%zmm6, %%zmm15, %%zmm17\n\t" \
  "vpdpbusd %%zmm7, %%zmm16, %%zmm17\n\t" SHIFT_SUMS("%%zmm20") \
  "vpdpbusd %%zmm8, %%zmm15, %%zmm17\n\t" \
  "vpdpbusd %%zmm9, %%zmm16, %%zmm17\n\t" ADD_REST  \
  "vcvtdq2ps %%zmm17, %%zmm17\n\t"
#else
#define SHARED_NUMBER as_int(256.0f)
#define LOAD_X                      \
  "vmovdqu64 (%[x]), %%zmm4\n\t"    \
  "vmovdqu64 64(%[x]), %%zmm6\n\t"  \
  "vmovdqu64 128(%[x]), %%zmm8\n\t" \
  ".irp i,10,11,12\n\t"             \
  "vmovdqu64 (\\i-7)*64(%[x]), %%zmm\\i\n\t.endr\n\t"
#define MULTIPLY(codes)                   \
  "vmovdqu64 " codes                      \
  ", %%zmm15\n\t"                         \
  "vmovdqa64 %%zmm10, %%zmm18\n\t"        \
  "vmovdqa64 %%zmm11, %%zmm17\n\t"        \
  "vpdpbusd %%zmm4, %%zmm15, %%zmm18\n\t" \
  "vpdpbusd %%zmm8, %%zmm15, %%zmm17\n\t" \
  "vpslld $8, %%zmm18, %%zmm18\n\t"       \
  "vpdpbusd %%zmm6, %%zmm15, %%zmm18\n\t" \
  "vcvtdq2ps %%zmm17, %%zmm17\n\t"        \
  "vcvtdq2ps %%zmm18, %%zmm18\n\t"        \
  "vfmadd231ps %%zmm14, %%zmm18, %%zmm17\n\t"
#endif

#ifndef GFNI
#define LOAD_MATRIX
#define SHIFT_START
#endif

// The scales are broadcast to the lanes of their blocks, and the pointers go on to those of the next vector.
#if BLOCKS_OF_VECTOR == 4
#define LOAD_SCALES(scales) "vmovups " scales ", %%xmm19\n\tvpermps %%zmm19, %%zmm13, %%zmm19\n\t"
#define NEXT_SCALES "add $16, %[scales]\n\tadd $16, %[last_scales]\n\t"
#elif BLOCKS_OF_VECTOR == 2
#define LOAD_SCALES(scales) "vmovsd " scales ", %%xmm19\n\tvpermps %%zmm19, %%zmm13, %%zmm19\n\t"
#define NEXT_SCALES "add $8, %[scales]\n\tadd $8, %[last_scales]\n\t"
#else
#define LOAD_SCALES(scales) "vbroadcastss " scales ", %%zmm19\n\t"
#define NEXT_SCALES              \
  "dec %[rest]\n\t"              \
  "jnz 2f\n\t"                   \
  "mov %[of_block], %[rest]\n\t" \
  "add $4, %[scales]\n\t"        \
  "add $4, %[last_scales]\n"     \
  "2:\n\t"
#endif

// Codes are asked for 1024 bytes before their use.
#define ADD_ROW(codes, scales, sums) \
  "prefetcht0 1024" codes "\n\t"         \
  MULTIPLY(codes)                        \
  LOAD_SCALES(scales)                    \
  "vmulps %%zmm12, %%zmm19, %%zmm19\n\t" \
  "vfmadd231ps %%zmm17, %%zmm19, " sums "\n\t"

// The rows are code_step bytes apart, and their scales scale_step bytes.
INLINE void sum_rows(float16 sums[ROWS], __global const uchar* codes, long code_step, __global const float* scales,
                     long scale_step, __global const int16* x, long vectors) {
  __global const uchar *last_codes = codes + 3 * code_step,
                       *last_scales = (__global const uchar*)scales + 3 * scale_step;
  // The vectors of a block, if it has one or more.
  const long of_block = GROUPS_OF_BLOCK < 0 ? vectors : GROUPS_OF_BLOCK / (2 * RUNS);
  long rest = of_block;
  __asm__ volatile(
      SAVE_REGISTERS
      "vmovdqu64 (%[x]), %%zmm13\n\t"
      "vmovdqu64 64(%[x]), %%zmm14\n\t" LOAD_MATRIX
      "add $192, %[x]\n\t"
      ".irp i,0,1,2,3\n\tvpxord %%zmm\\i, %%zmm\\i, %%zmm\\i\n\t.endr\n"
      "1:\n\t" LOAD_X SHIFT_START  //
          ADD_ROW("(%[codes])", "(%[scales])", "%%zmm0")
              ADD_ROW("(%[codes],%[code_step])", "(%[scales],%[scale_step])", "%%zmm1")
                  ADD_ROW("(%[codes],%[code_step],2)", "(%[scales],%[scale_step],2)", "%%zmm2") ADD_ROW(
                      "(%[last_codes])", "(%[last_scales])",
                      "%%zmm3") "add %[x_step], %[x]\n\tadd $64, %[codes]\n\tadd $64, %[last_codes]\n\t" NEXT_SCALES
                                "dec %[vectors]\n\tjnz 1b\n\t"
                                ".irp i,0,1,2,3\n\tvmovdqu64 %%zmm\\i, \\i*64(%[sums])\n\t.endr\n\t" RESTORE_REGISTERS
      : [codes] "+&r"(codes), [last_codes] "+&r"(last_codes), [scales] "+&r"(scales), [last_scales] "+&r"(last_scales),
        [x] "+&r"(x), [vectors] "+&r"(vectors), [rest] "+&r"(rest)
      : [sums] "r"(sums), [code_step] "r"(code_step), [scale_step] "r"(scale_step), [of_block] "r"(of_block),
        [x_step] "i"(64 * VECTORS)
      : "memory", "cc");
}
