// Packs matrices of whole numbers of one byte as words (product/pairs/pairs.h). A line is a row of A or a column of B.
// It has `runs` runs of `depth` numbers, which are `run` elements apart. The numbers of a run are `step` elements
// apart, and fill whole words. There are `count` matrices. Groups of `inner_count` matrices are `outer` elements apart,
// and the matrices of a group are `inner` elements apart.
//
// zero has one number, or one for each line of all matrices (zero_step is 0 or 1).
#include "product/pairs/pairs.h"

#ifndef T
#define T uchar
#endif

// The first element of a matrix.
INLINE __global const T* matrix_of(__global const T* x, long index, const PackPairsParameters* p) {
  return x + index / p->inner_count * p->outer + index % p->inner_count * p->inner;
}

INLINE int zero_of(__global const T* zero, long line, const PackPairsParameters* p) {
  return p->has_zero != 0 ? (int)zero[line * p->zero_step] : 0;
}

// Packs the numbers of a run, minus `base`. The result is their sum.
INLINE int pack_run(__global int* to, __global const T* from, int base, const PackPairsParameters* p) {
  int t = 0, sum = 0;
  if (p->step == 1 && p->depth >= 16) {
    int16 sums = 0;
    for (; t + 16 <= p->depth; t += 16) {
      const short16 numbers = RESIZED(short16, LOAD_16(T, from + t)) - (short)base;
      STORE_16(NUMBER, RESIZED(JOIN(NUMBER, 16), numbers), (__global NUMBER*)to + t);
      sums += RESIZED(int16, numbers);
    }
    sum = sum_16(sums);
  }
  NO_UNROLL
  for (; t < p->depth; t += WORD_NUMBERS) {
    int word = 0;
    NO_UNROLL
    for (int i = 0; i < min(WORD_NUMBERS, p->depth - t); ++i) {
      const int number = from[(t + i) * p->step] - base;
      sum += number;
      word |= (number & NUMBER_MASK) << i * NUMBER_BITS;
    }
    to[t / WORD_NUMBERS] = word;
  }
  return sum;
}

// A: (count, lines, ROW_SIZE). A unit of work is a line.
CPU_KERNEL void pack_rows(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                          const ulong zero_offset, __global int* restrict y, const ulong y_offset,
                          const PackPairsParameters p) {
  const int run_words = (p.depth + WORD_NUMBERS - 1) / WORD_NUMBERS, words = LINE_WORDS(p.runs * run_words);
  const long units = (long)p.count * p.lines, item = get_global_id(0), items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long line = unit % p.lines;
    __global const T* from = matrix_of(x + x_offset, unit / p.lines, &p) + line * p.line;
    __global int* to = y + y_offset + unit * ROW_SIZE(words);
    const int point = zero_of(zero + zero_offset, unit, &p), base = BASE_OF(T, point);
    int sum = 0;
    NO_UNROLL
    for (int run = 0; run < p.runs; ++run) sum += pack_run(to + run * run_words, from + run * p.run, base, &p);
    NO_UNROLL
    for (int t = p.runs * run_words; t < words; ++t) to[t] = 0;
    store_row_terms(to, words, point - base, sum);
  }
}

// The numbers of 16 lines. The last line is read again in the place of lines that B does not have.
INLINE int16 numbers_of(__global const T* from, long line, int lines) {
  if (line == 1 && lines == 16) return RESIZED(int16, LOAD_16(T, from));
  int numbers[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) numbers[lane] = from[min(lane, lines - 1) * line];
  return vload16(0, numbers);
}

// B: (count, panels, PANEL_LINES, 16). A unit of work is a panel. A line has one run.
CPU_KERNEL void pack_panels(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                            const ulong zero_offset, __global int* restrict y, const ulong y_offset,
                            const PackPairsParameters p) {
  const int all = (p.depth + WORD_NUMBERS - 1) / WORD_NUMBERS, words = LINE_WORDS(all), panels = (p.lines + 15) / 16;
  const long units = (long)p.count * panels, item = get_global_id(0), items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long first = unit % panels * 16;
    const int lines = min(16, (int)(p.lines - first));
    __global const T* from = matrix_of(x + x_offset, unit / panels, &p) + first * p.line;
    __global int* to = y + y_offset + unit * PANEL_LINES(words) * 16;
    int points[16];
    NO_UNROLL
    for (int lane = 0; lane < 16; ++lane)
      points[lane] = zero_of(zero + zero_offset, unit / panels * p.lines + first + min(lane, lines - 1), &p);
    const int16 point = vload16(0, points), base = BASE_OF(T, point);
    int16 sums = 0;
    NO_UNROLL
    for (int t = 0; t < all; ++t) {
      int16 word = 0;
#pragma unroll
      for (int i = 0; i < WORD_NUMBERS; ++i)
        if (t * WORD_NUMBERS + i < p.depth) {
          const int16 numbers = numbers_of(from + (t * WORD_NUMBERS + i) * p.step, p.line, lines) - base;
          sums += numbers;
          word |= (numbers & NUMBER_MASK) << i * NUMBER_BITS;
        }
      STORE_16(int, word, to + t * 16);
    }
    NO_UNROLL
    for (int t = all; t < words; ++t) STORE_16(int, (int16)(0), to + t * 16);
    store_panel_terms(to, words, point - base, sums, p.depth);
  }
}
