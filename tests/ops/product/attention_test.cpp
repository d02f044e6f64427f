// The tiled kernel of attention on both engines. It keeps the interface of product/gpu/engines/engine.h honest: an
// attention kernel needs the row and the column of each sum, reductions along rows, and sums as an operand of the next
// product.
#include <cmath>
#include <string>

#include "doctest/doctest.h"
#include "ops/attention/attention.h"
#include "ops/product/matrix_units.h"
#include "reference/softmax.h"
#include "support/compare.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

struct AttentionCase {
  std::int64_t rows, keys, depth;
};

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
  Tensor y = full({c.rows, c.depth}, NAN);
  ops::AttentionProblem p{};
  for (std::int64_t& heads : p.heads) heads = 1;
  p.rows = c.rows;
  p.keys = c.keys;
  p.depth = p.columns = c.depth;
  p.q = p.k = p.v = p.y = {{}, c.depth, 1};
  runtime::DeviceState& device = state_of(y);
  const dispatch::PreparedPtr prepared =
      dispatch::prepare(ops::plan_attention_on(engine, tile, p, dispatch::target_of(device)), device);
  dispatch::launch(*prepared, {in(from_q), in(from_k), in(from_v), in(from_q), out(y)}, {static_cast<float>(scale)});
  const std::vector<double> bias(static_cast<std::size_t>(c.rows * c.keys));
  const std::vector<double> expected =
      reference::attention(q, k, v, bias, {1, c.rows, c.keys, c.depth, c.depth}, scale);
  testing::check_close(y, expected, {error / std::ldexp(1.0, -23), 1.0});
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
