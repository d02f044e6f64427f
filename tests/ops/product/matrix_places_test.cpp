// Checks which numbers the kernels put into the fragments of matrix instructions that the tested devices lack. Models
// of ldmatrix, mma.sync, mfma and wmma compute a product from the numbers that each lane would read. They follow the
// vendors' documents, which say what each lane holds.
#include <array>
#include <cstdint>
#include <vector>

#include "doctest/doctest.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define INLINE inline
namespace {
#include "../../../cl_kernels/product/gpu/units/matrix_place.h"
namespace nvidia {
#define UNIT 1
#include "../../../cl_kernels/product/gpu/units/matrix_nvidia.h"
constexpr int lanes = LANES, count = ACC;
#undef UNIT
#undef LANES
#undef FM
#undef FN
#undef ACC
#undef RUN
}  // namespace nvidia
namespace mfma {
#define UNIT 3
#include "../../../cl_kernels/product/gpu/units/matrix_mfma.h"
constexpr int lanes = LANES, count = ACC;
#undef UNIT
#undef LANES
#undef FM
#undef FN
#undef ACC
#undef RUN
}  // namespace mfma
namespace wmma {
#define UNIT 4
#include "../../../cl_kernels/product/gpu/units/matrix_wmma.h"
constexpr int lanes = LANES, count = ACC, words = LANE_WORDS;
#undef UNIT
#undef LANES
#undef FM
#undef FN
#undef ACC
#undef RUN
#undef LANE_WORDS
}  // namespace wmma
namespace wmma_gfx12 {
#define UNIT 5
#include "../../../cl_kernels/product/gpu/units/matrix_wmma.h"
constexpr int lanes = LANES, count = ACC, words = LANE_WORDS;
#undef UNIT
}  // namespace wmma_gfx12

constexpr int rows = 32;  // Rows of either operand in local memory: two fragments.

// An operand's slice in local memory. A row has 16 words of two numbers, so 32 numbers of the depth.
struct Operand {
  std::array<std::array<int, 2>, rows * 16> words;
  std::array<std::array<int, 32>, rows> values;

  explicit Operand(int seed) {
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < 32; ++k) {
        const int value = (row * 7 + k * 13 + seed * 5) % 17 - 8;
        values[row][k] = value;
        words[place_of_word(row, k / 2)][k % 2] = value;
      }
  }
};

// The expected sum of 16 products for the fragments at these rows and this step.
int expected(const Operand& a, const Operand& b, int row, int column, int step) {
  int sum = 0;
  for (int k = step * 16; k < step * 16 + 16; ++k) sum += a.values[row][k] * b.values[column][k];
  return sum;
}

// The numbers of a 16 x 16 operand in the lanes: [row][depth], written by lane and number.
using Held = std::array<std::array<int, 16>, 16>;

// Computes D = A * B as an instruction does. `document` gives the row and column of result `i` of a lane, and the
// kernel stores that result at (acc_row, acc_column). Both must agree.
template <class Place, class Row, class Column>
void check_results(int lanes, int count, const Held& first, const Held& second, Place document, Row acc_row,
                   Column acc_column, bool swapped, const Operand& a, const Operand& b, int row, int column, int step) {
  int right = 0;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < count; ++i) {
      const auto [d_row, d_column] = document(lane, i);
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += first[d_row][k] * second[d_column][k];
      right += sum == expected(a, b, row + acc_row(i, lane), column + acc_column(i, lane), step);
      CHECK((swapped ? d_column : d_row) == acc_row(i, lane));
    }
  CHECK(right == lanes * count);
}

// PTX ISA, ldmatrix .x4: lane 8q + r gives the address of row r (16 bytes) of matrix q. Lane l gets word l % 4 of
// row l / 4 of each matrix.
std::array<int, 2> loaded(const Operand& from, int lane, int matrix, int base, int (*row_of)(int), int (*word_of)(int),
                          int step) {
  const int giver = matrix * 8 + lane / 4;
  return from.words[base * 16 + place_of_word(row_of(giver), step * 8 + word_of(giver)) + lane % 4];
}

}  // namespace

TEST_CASE("matrix places: rows of an operand lie in 16 words each, and eight rows' chunks in different banks") {
  std::vector<bool> taken(rows * 16);
  for (int row = 0; row < rows; ++row)
    for (int word = 0; word < 16; ++word) {
      const int place = place_of_word(row, word);
      CHECK(place == place_of_word(row, word & ~3) + (word & 3));
      CHECK(place == row / 8 * 128 + place_of_word(row % 8, word));
      CHECK(!taken[place]);
      taken[place] = true;
    }
  for (int first = 0; first < rows; first += 8)
    for (int chunk = 0; chunk < 4; ++chunk) {
      unsigned banks = 0;
      for (int row = first; row < first + 8; ++row) banks |= 1u << place_of_word(row, chunk * 4) % 32 / 4;
      CHECK(banks == 255u);
    }
  for (int row = 0; row < rows - 4; ++row) CHECK(place_of_word(row, 0) / 16 % 2 != place_of_word(row + 4, 0) / 16 % 2);
}

TEST_CASE("matrix places: mma.sync m16n8k16 with operands from ldmatrix") {
  const Operand a(1), b(2);
  for (const int base : {0, 16})
    for (const int step : {0, 1}) {
      // PTX ISA, fragments of .m16n8k16: a0 and a1 are at row l / 4, depth l % 4 * 2. The next pairs are at rows + 8,
      // at depth + 8, and at both together.
      Held first{}, second{};
      for (int lane = 0; lane < 32; ++lane)
        for (int half = 0; half < 2; ++half)
          for (int q = 0; q < 4; ++q) {
            const int depth = lane % 4 * 2 + half;
            first[lane / 4 + q % 2 * 8][depth + q / 2 * 8] =
                loaded(a, lane, q, base, nvidia::a_row_of, nvidia::a_word_of, step)[half];
            // b0 and b1 are at column l / 4, depth l % 4 * 2, and then at depth + 8. The other eight columns follow.
            second[lane / 4 + q / 2 * 8][depth + q % 2 * 8] =
                loaded(b, lane, q, base, nvidia::b_row_of, nvidia::b_word_of, step)[half];
          }
      // c0 and c1 are at row l / 4, column l % 4 * 2 and the next column. c2 and c3 are eight rows below.
      const auto document = [](int lane, int i) {
        return std::array{lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
      };
      check_results(nvidia::lanes, nvidia::count, first, second, document, nvidia::acc_row, nvidia::acc_column, false,
                    a, b, base, base, step);
    }
}

TEST_CASE("matrix places: v_mfma_f32_16x16x16_f16, operands exchanged") {
  const Operand a(3), b(4);
  for (const int base : {0, 16})
    for (const int step : {0, 1}) {
      // AMD matrix instruction calculator: lane l holds row (or column) l % 16, depth l / 16 * 4 and the next three
      // depths.
      Held rows_of_b{}, rows_of_a{};
      for (int lane = 0; lane < 64; ++lane)
        for (int j = 0; j < 4; ++j) {
          const int at = base * 16 + place_of_word(mfma::a_row_of(lane), step * 8 + mfma::a_word_of(lane)) + j / 2;
          rows_of_b[lane % 16][lane / 16 * 4 + j] = b.words[at][j % 2];
          rows_of_a[lane % 16][lane / 16 * 4 + j] = a.words[at][j % 2];
        }
      // Result i is at row l / 16 * 4 + i, column l % 16.
      const auto document = [](int lane, int i) { return std::array{lane / 16 * 4 + i, lane % 16}; };
      check_results(mfma::lanes, mfma::count, rows_of_b, rows_of_a, document, mfma::acc_row, mfma::acc_column, true, a,
                    b, base, base, step);
    }
}

TEST_CASE("matrix places: v_wmma_f32_16x16x16_f16 of gfx11 and, operands exchanged, of gfx12") {
  const Operand a(5), b(6);
  for (const int base : {0, 16})
    for (const int step : {0, 1}) {
      const auto held = [&](const Operand& from, int words, int (*row_of)(int), int (*word_of)(int)) {
        // gfx11: lane l holds row (or column) l % 16 at all depths. gfx12: it holds only half l / 16 of the depths.
        Held result{};
        for (int lane = 0; lane < 32; ++lane)
          for (int j = 0; j < words * 2; ++j) {
            const int word = step * 8 + word_of(lane) + j / 8 * 4;
            const int at = base * 16 + place_of_word(row_of(lane), word) + j / 2 % 4;
            result[lane % 16][(words == 8 ? 0 : lane / 16 * 8) + j] = from.words[at][j % 2];
          }
        return result;
      };
      check_results(
          wmma::lanes, wmma::count, held(a, wmma::words, wmma::a_row_of, wmma::a_word_of),
          held(b, wmma::words, wmma::a_row_of, wmma::a_word_of),
          [](int lane, int i) {
            return std::array{i * 2 + lane / 16, lane % 16};
          },
          wmma::acc_row, wmma::acc_column, false, a, b, base, base, step);
      check_results(
          wmma_gfx12::lanes, wmma_gfx12::count, held(b, wmma_gfx12::words, wmma_gfx12::a_row_of, wmma_gfx12::a_word_of),
          held(a, wmma_gfx12::words, wmma_gfx12::a_row_of, wmma_gfx12::a_word_of),
          [](int lane, int i) {
            return std::array{lane / 16 * 8 + i, lane % 16};
          },
          wmma_gfx12::acc_row, wmma_gfx12::acc_column, true, a, b, base, base, step);
    }
}
