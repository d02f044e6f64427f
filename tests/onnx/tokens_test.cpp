// Ops over tokens from ONNX files: parts of a sequence give the same results as the whole sequence.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: positions, states and linear attention") {
  manual_seed(5);
  // The end of a sequence, computed with the state of its beginning.
  const Tensor x = randn({2, 3, 7}), weight = randn({3, 1, 4}), bias = randn({3});
  const OnnxOp conv{"CausalConvWithState", {attribute("activation", "silu")}, 28, "", {"y", "state"}};
  const Tensors whole = run_op(conv, {x, weight, bias});
  const Tensors first = run_op(conv, {x.narrow(2, 0, 2), weight, bias});
  const Tensors second = run_op(conv, {x.narrow(2, 2, 5), weight, bias, first[1]});
  CHECK(nearly(cat({first[0], second[0]}, 2), whole[0]));
  CHECK(nearly(second[1], whole[1]));
  CHECK(refusal_of_op(conv, {x, weight, bias, x}) == Contains("past_state has shape (2, 3, 7)"));

  const Tensor q = randn({2, 5, 8}), k = randn({2, 5, 4}), v = randn({2, 5, 6}), decay = -rand({2, 5, 2}),
               beta = rand({2, 5, 1});
  const OnnxOp linear{"LinearAttention", {number("q_num_heads", 4), number("kv_num_heads", 2)}, 28, "", {"y", "state"}};
  const auto steps = [&](std::int64_t from, std::int64_t count, const Tensor& state) {
    const auto part = [&](const Tensor& t) { return t.narrow(1, from, count); };
    return run_op(linear, {part(q), part(k), part(v), state, part(decay), part(beta)});
  };
  const Tensors all = steps(0, 5, Tensor()), begin = steps(0, 2, Tensor()), end = steps(2, 3, begin[1]);
  CHECK(nearly(cat({begin[0], end[0]}, 1), all[0]));
  CHECK(nearly(end[1], all[1]));
  CHECK(refusal_of_op(linear, {q, k, v}) == Contains("the inputs decay and beta do not fit update_rule"));

  // A turn by an angle and back.
  const Tensor tokens = randn({2, 3, 5, 8}), angle = rand({6, 3});
  const Tensor at = from_vector(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 4, 3, 2, 1}, {2, 5});
  for (const std::int64_t interleaved : {0, 1}) {
    const OnnxOp turn{"RotaryEmbedding", {number("interleaved", interleaved), number("rotary_embedding_dim", 6)}};
    const Tensor there = run_op(turn, {tokens, cos(angle), sin(angle), at})[0];
    CHECK(nearly(run_op(turn, {there, cos(angle), -sin(angle), at})[0], tokens));
    CHECK(!nearly(there, tokens));
    CHECK(nearly(there.norm(2, -1), tokens.norm(2, -1)));
  }
  CHECK(refusal_of_op({"RotaryEmbedding", {number("rotary_embedding_dim", 5)}}, {tokens, angle, angle, at}) ==
        Contains("5 elements of 8 are rotated"));
}
