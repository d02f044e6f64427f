// Ops over tokens from ONNX files: parts of a sequence give the same results as the whole sequence.
#include <limits>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using onnx_file::attribute;
using Tensors = std::vector<Tensor>;
using Sizes = std::vector<std::int64_t>;

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

namespace {

const Sizes pool{2, 3, 5, /**/ 1, 2, 2, 2, 3, 1, /**/ 1, 2, 3}, starts{0, 3, 9}, to{6, 0, 1, 5, 4, 2, 3};

/// How often grams of `length` to `longest` tokens are in a row, by the columns of `to`.
std::vector<float> counted(const std::vector<std::int64_t>& row, std::size_t length, std::size_t longest,
                           std::size_t skips) {
  std::vector<float> counts(7);
  std::size_t gram = length == 1 ? 0 : 3;
  for (; length <= longest; ++length) {
    const auto first = static_cast<std::size_t>(starts[length - 1]);
    const std::size_t end = length < starts.size() ? static_cast<std::size_t>(starts[length]) : pool.size();
    for (std::size_t at = first; at < end; at += length, ++gram)
      for (std::size_t step = 1; step <= (length == 1 ? 1 : skips + 1); ++step)
        for (std::size_t from = 0; from + step * (length - 1) < row.size(); ++from) {
          bool is_equal = true;
          for (std::size_t i = 0; i < length; ++i) is_equal = is_equal && row[from + i * step] == pool[at + i];
          counts[static_cast<std::size_t>(to[gram])] += is_equal;
        }
  }
  return counts;
}

OnnxOp vectorizer(std::int64_t shortest, std::int64_t longest, std::int64_t skips, const char* mode = "TF",
                  std::vector<float> weights = {}) {
  OnnxOp op{"TfIdfVectorizer",
            {attribute("mode", mode), attribute("pool_int64s", pool), attribute("ngram_counts", starts),
             attribute("ngram_indexes", to), number("min_gram_length", shortest), number("max_gram_length", longest),
             number("max_skip_count", skips)},
            9};
  if (!weights.empty()) op.attributes.push_back(attribute("weights", weights));
  return op;
}

}  // namespace

TEST_CASE("onnx: TfIdfVectorizer counts grams of one to three tokens") {
  const std::vector<std::int64_t> rows[] = {{1, 2, 3, 1, 2, 2, 3}, {5, 5, 2, 3, 1, 4, 2}};
  std::vector<std::int64_t> both = rows[0];
  both.insert(both.end(), rows[1].begin(), rows[1].end());
  const Tensor x = from_vector(both, {2, 7});
  for (const std::size_t shortest : {1, 2})
    for (const std::size_t longest : {2, 3})
      for (const std::size_t skips : {0, 1, 9}) {
        CAPTURE(shortest);
        CAPTURE(longest);
        CAPTURE(skips);
        std::vector<float> expected;
        for (const auto& row : rows)
          for (const float count : counted(row, shortest, longest, skips)) expected.push_back(count);
        const Tensors y = run_op(vectorizer(static_cast<std::int64_t>(shortest), static_cast<std::int64_t>(longest),
                                            static_cast<std::int64_t>(skips)),
                                 {x});
        CHECK(nearly(y[0], from_vector(expected, {2, 7})));
      }
  const std::vector<float> weights{2, 3, 4, 5, 6, 7, 8};
  const Tensor row = x.select(0, 0).to(DType::i32), scale = from_vector(weights, {7});
  const Tensor counts = from_vector(counted(rows[0], 1, 3, 1), {7});
  CHECK(nearly(run_op(vectorizer(1, 3, 1, "TFIDF", weights), {row})[0], counts * scale));
  CHECK(nearly(run_op(vectorizer(1, 3, 1, "IDF", weights), {row})[0], counts.gt(0).to(DType::f32) * scale));
  CHECK(nearly(run_op(vectorizer(1, 3, 1, "IDF"), {row})[0], counts.gt(0).to(DType::f32)));

  // A step that no sequence has room for.
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(nearly(run_op(vectorizer(1, 3, largest), {row})[0], from_vector(counted(rows[0], 1, 3, 9), {7})));
  CHECK(run_op(vectorizer(1, 3, 1), {empty({2, 0}, DType::i64)})[0].sum().item<float>() == 0);

  CHECK(refusal_of_op(vectorizer(1, 4, 0), {x}) == Contains("grams of length 1 to 4 of 3"));
  CHECK(refusal_of_op(vectorizer(1, 3, 0, "IDF", {1, 2}), {x}) == Contains("weights has 2 numbers for 7 columns"));
  CHECK(refusal_of_op(vectorizer(1, 1, 0), {x.unsqueeze(0)}) == Contains("(C) or (N, C) expected"));
  OnnxOp odd = vectorizer(1, 1, 0);
  odd.attributes[2] = attribute("ngram_counts", Sizes{0, 4});
  CHECK(refusal_of_op(odd, {x}) == Contains("7 places for 8 grams"));
  odd.attributes[3] = attribute("ngram_indexes", Sizes{0, 1, 2, 3, 4, 5, largest});
  CHECK(refusal_of_op(odd, {x}) == Contains("ngram_indexes has 9223372036854775807"));
  odd.attributes[2] = attribute("ngram_counts", Sizes{0, 3, 10});
  CHECK(refusal_of_op(odd, {x}) == Contains("grams of length 2 from token 3 to 10 of 12"));
}
