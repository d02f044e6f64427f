// Attention from ONNX files, against products and softmax.
#include <cmath>
#include <limits>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/gradcheck.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("onnx: attention with groups of heads, masks and earlier keys") {
  manual_seed(4);
  const Tensor q = randn({2, 4, 3, 8}), k = randn({2, 2, 5, 8}), v = randn({2, 2, 5, 6});
  const auto repeated = [](const Tensor& x) {
    return x.unsqueeze(2).expand({x.size(0), 2, 2, x.size(2), x.size(3)}).reshape({x.size(0), 4, x.size(2), x.size(3)});
  };
  const auto expected = [&](const Tensor& bias) {
    return matmul(softmax(matmul(q, repeated(k).transpose(2, 3)) / std::sqrt(8.0) + bias, -1), repeated(v));
  };
  CHECK(nearly(run_op({"Attention"}, {q, k, v})[0], expected(zeros({1}))));
  const Tensor mask = rand({2, 1, 3, 5}).gt(0.5);
  const Tensor open = logical_or(mask, arange(0, 5).eq(1)), closed_row = arange(0, 3).ne(2).unsqueeze(1);
  CHECK(nearly(run_op({"Attention"}, {q, k, v, open})[0], expected(where(open, zeros({1}), -infinity))));
  const Tensor with_hole = run_op({"Attention"}, {q, k, v, logical_and(open, closed_row)})[0];
  CHECK(nearly(with_hole, expected(where(open, zeros({1}), -infinity)) * closed_row));
  const Tensor added = randn({3, 4});  // The last key is not in the mask.
  CHECK(nearly(run_op({"Attention"}, {q, k, v, added})[0], expected(cat({added, full({3, 1}, -infinity)}, 1))));

  // Keys and values of an earlier call, and packed heads.
  const Tensor past_k = k.narrow(2, 0, 2), past_v = v.narrow(2, 0, 2);
  const auto packed = [](const Tensor& x) { return x.transpose(1, 2).reshape({x.size(0), x.size(2), -1}); };
  const Tensors all =
      run_op({"Attention",
              {number("is_causal", 1), number("q_num_heads", 4), number("kv_num_heads", 2),
               number("qk_matmul_output_mode", 3)},
              28,
              "",
              {"y", "k", "v", "scores"}},
             {packed(q), packed(k.narrow(2, 2, 3)), packed(v.narrow(2, 2, 3)), Tensor(), past_k, past_v});
  const Tensor causal = where(arange(0, 5).le(arange(0, 3).unsqueeze(1) + 2), zeros({1}), -infinity);
  CHECK(nearly(all[0], packed(expected(causal))));
  CHECK(nearly(all[1], k));
  CHECK(nearly(all[2], v));
  CHECK(nearly(all[3].sum(-1), ones({2, 4, 3})));
  // A window, and lengths of sequences.
  const Tensor lengths = from_vector(std::vector<std::int64_t>{5, 3});
  const Tensor key = arange(0, 5),
               query = arange(0, 3).unsqueeze(1) + from_vector(std::vector<float>{2, 0}, {2, 1, 1, 1});
  const Tensor seen = logical_and(key.ge(query - 1), key.le(query));
  CHECK(nearly(run_op({"Attention", {number("left_window_size", 1), number("right_window_size", 0)}},
                      {q, k, v, Tensor(), Tensor(), Tensor(), lengths})[0],
               expected(where(seen, zeros({1}), -infinity))));
  check_gradients(
      [&](const Tensors& in) {
        return run_op({"Attention", {attribute("softcap", 2.f)}}, in)[0];
      },
      {q, k, v, added}, {.elements = 3});
  CHECK(nearly(run_op({"FlexAttention", {}, 26, "ai.onnx.preview"}, {q, k, v})[0], expected(zeros({1}))));

  CHECK(refusal_of_op({"Attention"}, {q, k, v, Tensor(), k}) == Contains("past_key and past_value belong together"));
  CHECK(refusal_of_op({"Attention"}, {q, randn({2, 3, 5, 8}), randn({2, 3, 5, 6})}) ==
        Contains("4 heads of queries for 3 heads of keys"));
  CHECK(refusal_of_op({"Attention", {number("softmax_precision", 17)}}, {q, k, v}) == Contains("elements of f8e4m3fn"));
  CHECK(refusal_of_op({"Attention", {number("left_window_size", 1)}, 24}, {q, k, v}) ==
        Contains("attribute \"left_window_size\" is not supported"));
  CHECK(refusal_of_op({"Attention"}, {q, k, v, ones({3, 5}).to(DType::i64)}) == Contains("a mask of i64"));
  CHECK(refusal_of_op({"Attention"}, {packed(q), packed(k), packed(v)}) == Contains("with 0 heads"));
}
