// The forward pass of attention, written with the readers and engines of cl_kernels/product. It keeps the interface of
// product/engines/engine.h honest: an attention kernel needs the row and the column of each sum, reductions along rows,
// and sums as an operand of the next product.
#include <algorithm>
#include <cmath>
#include <string>

#include "dispatch/work_split.h"
#include "doctest/doctest.h"
#include "ops/product/matrix_units.h"
#include "support/compare.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

// O = softmax(scale * Q K^T) V for one head. Q and O are rows x depth, K and V are keys x depth; depth <= BN. A group
// makes BM rows. It goes through the keys BN at a time, with the largest score and the sum of each row up to there
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
constexpr const char* attention_source = R"(
#define VEC 1
#include "product/matrix_reader.h"

typedef struct {
  MatrixReader a, b;
} Operands;

INLINE void operands_load(const Operands* o, float* a, float* b) {
  matrix_load(&o->a, a, BM, STORAGE_F32);
  matrix_load(&o->b, b, BN, STORAGE_F32);
}
INLINE void operands_end(float* a, float* b, int depth) {
  matrix_end(a, depth, BM, 1);
  matrix_end(b, depth, BN, 1);
}
INLINE void operands_move(Operands* o, int depth) {
  matrix_move(&o->a, depth);
  matrix_move(&o->b, depth);
}
INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local StageWord* stage) {
  matrix_keep(a, STAGE_A(stage), BM, 1);
  matrix_keep(b, STAGE_B(stage), BN, 1);
}

#include "product/engines/multiply.h"

#define SLOTS (BN / ROW_RUN)

// The greatest number, or the sum, of the numbers that all items have of a row. `of_runs` has one of each run.
INLINE void rows_reduce(float of_runs[RUNS], __local float* rows, int greatest) {
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (int run = 0; run < RUNS; ++run) rows[(item_row() + run_row(run)) * SLOTS + run_slot(run)] = of_runs[run];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = tile_item(); row < BM; row += ITEMS) {
    float all = rows[row * SLOTS];
    for (int slot = 1; slot < SLOTS; ++slot)
      all = greatest ? fmax(all, rows[row * SLOTS + slot]) : all + rows[row * SLOTS + slot];
    rows[row * SLOTS] = all;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (int run = 0; run < RUNS; ++run) of_runs[run] = rows[(item_row() + run_row(run)) * SLOTS];
}

TILE_KERNEL void attention(__global const float* restrict q, const ulong q_offset, __global const float* restrict k,
                           const ulong k_offset, __global const float* restrict v, const ulong v_offset,
                           __global float* restrict o, const ulong o_offset, const int rows, const int keys,
                           const int depth, const float scale) {
  LOCAL_STAGES;
  __local float of_rows[BM * SLOTS];
  const int row = (int)get_group_id(0) * BM;
  TileSums out;
  float greatest[RUNS], total[RUNS];
  sums_clear(out);
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    greatest[run] = -INFINITY;
    total[run] = 0.0f;
  }
  for (int first = 0; first < keys; first += BN) {
    Operands operands;
    operands.a = matrix_begin((__global const char*)(q + q_offset), depth, row, rows, depth, BM, 1,
                              STORAGE_F32);
    operands.b = matrix_begin((__global const char*)(k + k_offset), depth, first, keys, depth, BN, 1,
                              STORAGE_F32);
    TileSums scores;
    tile_multiply(scores, &operands, stages, depth);

    float largest[RUNS], sum[RUNS];
    UNROLL
    for (int run = 0; run < RUNS; ++run) {
      largest[run] = greatest[run];
      UNROLL
      for (int i = 0; i < ROW_RUN; ++i) {
        const int key = first + item_column() + run_column(run, i);
        scores[run * ROW_RUN + i] = key < keys ? scores[run * ROW_RUN + i] * scale : -INFINITY;
        largest[run] = fmax(largest[run], scores[run * ROW_RUN + i]);
      }
    }
    rows_reduce(largest, of_rows, 1);
    UNROLL
    for (int run = 0; run < RUNS; ++run) {
      const float shrink = exp(greatest[run] - largest[run]);
      greatest[run] = largest[run];
      sum[run] = 0.0f;
      UNROLL
      for (int i = 0; i < ROW_RUN; ++i) {
        scores[run * ROW_RUN + i] = exp(scores[run * ROW_RUN + i] - largest[run]);
        sum[run] += scores[run * ROW_RUN + i];
        out[run * ROW_RUN + i] *= shrink;
      }
      total[run] *= shrink;
    }
    rows_reduce(sum, of_rows, 0);
    UNROLL
    for (int run = 0; run < RUNS; ++run) total[run] += sum[run];

    for (int slice = 0; slice < min(BN, keys - first); slice += SLICE) {
      const int depth_of_slice = min(SLICE, keys - first - slice);
      float values[LOADS(BN)];
      const MatrixReader reader = matrix_begin((__global const char*)(v + v_offset + (long)(first + slice) * depth), depth,
                                               0, depth, depth_of_slice, BN, 0, STORAGE_F32);
      matrix_load(&reader, values, BN, STORAGE_F32);
      matrix_end(values, depth_of_slice, BN, 0);
      barrier(CLK_LOCAL_MEM_FENCE);
      matrix_keep(values, STAGE_B(stages), BN, 0);
      UNROLL
      for (int run = 0; run < RUNS; ++run)
        UNROLL
        for (int i = 0; i < ROW_RUN; ++i) {
          const int key = item_column() + run_column(run, i) - slice;
          if (key >= 0 && key < SLICE)
            stage_element(STAGE_A(stages), BM, item_row() + run_row(run), key, scores[run * ROW_RUN + i]);
        }
      barrier(CLK_LOCAL_MEM_FENCE);
      slice_multiply(out, stages);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UNROLL
  for (int run = 0; run < RUNS; ++run)
    UNROLL
    for (int i = 0; i < ROW_RUN; ++i) {
      const int to_row = row + item_row() + run_row(run), column = item_column() + run_column(run, i);
      if (to_row < rows && column < depth) o[o_offset + to_row * depth + column] = out[run * ROW_RUN + i] / total[run];
    }
}
)";

struct AttentionCase {
  std::int64_t rows, keys, depth;
};

std::vector<double> reference(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                              const AttentionCase& c, double scale) {
  const auto at = [&](const std::vector<double>& values, std::int64_t row, std::int64_t column) {
    return double{static_cast<float>(values[static_cast<std::size_t>(row * c.depth + column)])};
  };
  std::vector<double> out;
  for (std::int64_t row = 0; row < c.rows; ++row) {
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t key = 0; key < c.keys; ++key) {
      double score = 0;
      for (std::int64_t d = 0; d < c.depth; ++d) score += at(q, row, d) * at(k, key, d);
      weights.push_back(std::exp(scale * score));
      total += weights.back();
    }
    for (std::int64_t d = 0; d < c.depth; ++d) {
      double sum = 0;
      for (std::int64_t key = 0; key < c.keys; ++key) sum += weights[static_cast<std::size_t>(key)] * at(v, key, d);
      out.push_back(sum / total);
    }
  }
  return out;
}

/// `error` bounds the absolute error of a result. Values and weights are at most 1.
void check_attention(const ops::Engine& engine, const ops::TileShape& tile, const AttentionCase& c, double error) {
  CAPTURE(c.rows);
  CAPTURE(c.keys);
  CAPTURE(c.depth);
  const double scale = 1 / std::sqrt(static_cast<double>(c.depth));
  const auto q = testing::random_values(1, c.rows * c.depth), k = testing::random_values(2, c.keys * c.depth),
             v = testing::random_values(3, c.keys * c.depth);
  const Tensor from_q = testing::tensor_of(q, {c.rows, c.depth}), from_k = testing::tensor_of(k, {c.keys, c.depth}),
               from_v = testing::tensor_of(v, {c.keys, c.depth});
  Tensor o = full({c.rows, c.depth}, NAN);
  runtime::DeviceState& device = state_of(o);
  const dispatch::Target target = dispatch::target_of(device);
  runtime::KernelSpec spec{{}, "attention"};
  spec.prelude = attention_source;
  engine.define(spec, tile, target);
  ops::define_device(spec.defines, target);
  const auto [x, y] = engine.local_size(tile);
  const std::int64_t groups = (c.rows + tile.rows - 1) / tile.rows;
  runtime::launch(device, spec, {{groups * x, y}, {x, y}}, in(from_q), in(from_k), in(from_v), out(o),
                  static_cast<std::int32_t>(c.rows), static_cast<std::int32_t>(c.keys),
                  static_cast<std::int32_t>(c.depth), static_cast<float>(scale));
  const std::vector<double> expected = reference(q, k, v, c, scale);
  testing::check_close(o, expected, {error / std::ldexp(1.0, -23), 1.0});
}

constexpr AttentionCase cases[] = {{5, 7, 3}, {33, 65, 16}, {70, 40, 13}};

}  // namespace

TEST_CASE("engine: attention can be written with multiply-adds") {
  const dispatch::Target target = dispatch::target_of(state_of(zeros({1})));
  const ops::TileShape tile{32, 32, 4, 4, 1.0, 16};
  if (ops::fma_engine().against_tile(tile, target, 1) != nullptr) CRISOL_SKIP("the device cannot run the tile");
  for (const AttentionCase& c : cases) check_attention(ops::fma_engine(), tile, c, 1e-5);
}

TEST_CASE("engine: attention can be written with matrix units") {
  if (Device().info().platform != "Intel(R) OpenCL")  // PoCL 3.1 crashes when it compiles this for waves of 8.
    CRISOL_SKIP("nine programs, which Intel's runtime compiles the soonest");
  const auto check = [](testing::Kind kind, Precision precision) {
    CAPTURE(std::string(dispatch::facts_of(kind).name));
    CAPTURE(precision);
    // Scores, weights and values are rounded.
    check_attention(ops::mma_engine({kind, true}, precision), testing::min_tile, cases[1],
                    4 * testing::unit_error(precision));
  };
  for (const auto kind : testing::all_kinds) check(kind, Precision::fp16);
  for (const Precision precision : {Precision::tf32, Precision::bf16}) check(testing::Kind::mma_sm80, precision);
}

}  // namespace crisol
