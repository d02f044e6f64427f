// The engine that multiplies with matrix units. engines/engine.h describes its functions.
//
// A group computes BM x BN results. A wave of LANES work-items computes WM x WN of these results, in fragments of FM x
// FN. A fragment is the result of one multiplication of the unit; gpu/units/matrix_unit.h gives FM and FN. Local
// ids are (LANES, WAVES), so that a wave of the device is one row.
//
// Elements in local memory have the type of the unit: they are rounded on their way. With tf32 there is one
// element in a word of 32 bits. With fp16 and bf16 there are two elements in a word. A slice has SLICE_WORDS
// words of each row of A and of each column of B. A multiplication takes STEP_WORDS of these words, which are a step.
#include "product/sizes.h"
#include "product/gpu/units/matrix_place.h"
#include "product/gpu/units/matrix_round.h"
#include "product/gpu/units/matrix_unit.h"

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 32
#endif
// The number of slices that local memory holds. With 2, one slice is multiplied while the next one is written.
#ifndef STAGES
#define STAGES 2
#endif

#define WAVES (BM / WM * (BN / WN))
#define ITEMS (LANES * WAVES)
#if BM % WM || BN % WN || WM % FM || WN % FN || BM % 8 || BN % 8
#error "a tile is made of whole fragments"
#endif
#if !defined(EMULATED) && UNIT >= UNIT_XMX8
#define TILE_KERNEL \
  __attribute__((intel_reqd_sub_group_size(LANES))) __kernel __attribute__((reqd_work_group_size(LANES, WAVES, 1)))
#else
#define TILE_KERNEL __kernel __attribute__((reqd_work_group_size(LANES, WAVES, 1)))
#endif

INLINE int wave_lane(void) { return get_local_id(0); }
INLINE int wave_row(void) { return (int)get_local_id(1) / (BN / WN) * WM; }
INLINE int wave_column(void) { return (int)get_local_id(1) % (BN / WN) * WN; }
INLINE int tile_item(void) { return (int)get_local_id(1) * LANES + (int)get_local_id(0); }

// ---- Slices in local memory ----

typedef uint StageWord;
#define SLICE (SLICE_WORDS * PER_WORD)
#define STAGE (SLICE_WORDS * (BM + BN))
#define STAGE_A(stage) (stage)
#define STAGE_B(stage) ((stage) + BM * SLICE_WORDS)
#define LOCAL_STAGES __local StageWord stages[STAGES * STAGE] __attribute__((aligned(128)))

// A chunk is a square of 4 x 4 elements, four lines of four elements. An item writes a chunk as rows along the depth.
// If its lines go across the depth, the item transposes it in registers. Eight neighbouring items (tf32: four) take
// squares that follow each other along the depth. So the items read whole lines of 128 bytes in both cases, and they
// write whole rows.
#define SQUARES_DEEP (SLICE / 4)
#define SQUARES(side) ((side) / 4 * SQUARES_DEEP)
#define CHUNK_LINES 4
#define CHUNK_RUN(vec) 4
#define CHUNKS(side, vec) ((SQUARES(side) + ITEMS - 1) / ITEMS)
#define LOADS(side) (CHUNKS(side, 1) * 16)

// The position of an item's square: its first element of the depth, and its first line.
INLINE int square_depth(int part) { return (tile_item() + part * ITEMS) % SQUARES_DEEP * 4; }
INLINE int square_side(int part) { return (tile_item() + part * ITEMS) / SQUARES_DEEP * 4; }
INLINE bool has_chunk(int part, int side) {
  return SQUARES(side) % ITEMS == 0 || tile_item() + part * ITEMS < SQUARES(side);
}
INLINE int chunk_along(int part, int side, int along_k, int vec) {
  return along_k ? square_depth(part) : min(square_side(part), side - 4);
}
INLINE int chunk_line(int part, int side, int along_k, int vec) {
  return along_k ? min(square_side(part), side - 4) : square_depth(part);
}

INLINE void stage_chunk(__local StageWord* to, int side, int part, const VALUE_TYPE* values, int along_k, int vec) {
  if (!has_chunk(part, side)) return;
  UNROLL
  for (int row = 0; row < 4; ++row) {
    const VALUE_TYPE* from = values + (along_k ? row * 4 : row);
    const int step = along_k ? 1 : 4;
    __local StageWord* place = to + place_of_word(square_side(part) + row, square_depth(part) / PER_WORD);
#if PER_WORD == 2
    *(__local uint2*)place = (uint2)(round_two(from[0], from[step]), round_two(from[2 * step], from[3 * step]));
#else
    *(__local uint4*)place =
        (uint4)(round_one(from[0]), round_one(from[step]), round_one(from[2 * step]), round_one(from[3 * step]));
#endif
  }
}

// Neighbouring items write the same words of neighbouring lines. If an item writes four words at once, no two of these
// writes use the same bank.
INLINE void stage_run(__local StageWord* to, int side, int line, int first, const VALUE_TYPE* values, int count) {
  uint words[SLICE_WORDS];
  UNROLL
  for (int i = 0; i < count; i += PER_WORD) words[i / PER_WORD] = round_word(values[i], values[i + PER_WORD - 1]);
  const int word = first / PER_WORD, width = count / PER_WORD % 4 == 0 ? 4 : 2;
  UNROLL
  for (int w = 0; w < count / PER_WORD; w += width) {
    __local StageWord* place = to + place_of_word(line, word + w);
    if (width == 4)
      *(__local uint4*)place = vload4(0, words + w);
    else
      *(__local uint2*)place = vload2(0, words + w);
  }
}

INLINE void stage_word(__local StageWord* to, int side, int line, int word, VALUE_TYPE first, VALUE_TYPE last) {
  to[place_of_word(line, word)] = round_word(first, last);
}

INLINE void stage_element(__local StageWord* to, int side, int line, int depth, VALUE_TYPE value) {
  __local StageWord* word = to + place_of_word(line, depth / PER_WORD);
#if PER_WORD == 2
  ((__local ushort*)word)[depth % 2] = (ushort)round_two(value, value);
#else
  *word = round_one(value);
#endif
}

// ---- Sums ----

#define FRAGMENT_ROWS (WM / FM)
#define FRAGMENT_COLUMNS (WN / FN)
#define ROW_RUN RUN
#define RUNS (FRAGMENT_ROWS * FRAGMENT_COLUMNS * ACC / RUN)
typedef SUM_TYPE TileSums[RUNS * ROW_RUN];

// The row of a number in a fragment is the sum of two terms: one for the lane, and one for the number's index. This is
// also true for the column.
INLINE int item_row(void) { return wave_row() + acc_row(0, wave_lane()); }
INLINE int item_column(void) { return wave_column() + acc_column(0, wave_lane()); }
INLINE int run_row(int run) {
  const int sum = run * ROW_RUN;
  return sum / ACC / FRAGMENT_COLUMNS * FM + acc_row(sum % ACC, 0);
}
INLINE int run_column(int run, int i) {
  const int sum = run * ROW_RUN + i;
  return sum / ACC % FRAGMENT_COLUMNS * FN + acc_column(sum % ACC, 0);
}

INLINE int run_slot(int run) { return (item_column() + run_column(run, 0)) / ROW_RUN; }

INLINE void sums_clear(TileSums acc) {
  UNROLL
  for (int s = 0; s < RUNS * ROW_RUN; ++s) acc[s] = 0.0f;
}

INLINE void slice_multiply(TileSums acc, __local const StageWord* stage) {
  UNROLL
  for (int step = 0; step < SLICE_WORDS / STEP_WORDS; ++step) {
    FragmentA a[FRAGMENT_ROWS];
    FragmentB b[FRAGMENT_COLUMNS];
    UNROLL
    for (int i = 0; i < FRAGMENT_ROWS; ++i) a[i] = fragment_a(STAGE_A(stage), wave_row() + i * FM, step);
    UNROLL
    for (int j = 0; j < FRAGMENT_COLUMNS; ++j) b[j] = fragment_b(STAGE_B(stage), wave_column() + j * FN, step);
    UNROLL
    for (int i = 0; i < FRAGMENT_ROWS; ++i)
      UNROLL
      for (int j = 0; j < FRAGMENT_COLUMNS; ++j) fragment_multiply(acc + (i * FRAGMENT_COLUMNS + j) * ACC, a[i], b[j]);
  }
}
