// Ops on the tokens of a sequence. Some keep a state between calls.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// The cosines or sines (N, L, R / 2) for each position, with an inserted axis for heads.
Tensor angles(const Tensor& table, const Tensor& positions, int axis_of_heads, std::int64_t half) {
  require(table.dim() == (positions.defined() ? 2 : 3) && table.size(-1) == half, "onnx", "cosines or sines of shape ",
          table.shape(), ", and ", half, " for each position expected");
  if (!positions.defined()) return table.unsqueeze(axis_of_heads);
  Shape shape = positions.shape();
  shape.push_back(half);
  return index_select(table, 0, positions.reshape(positions.numel())).reshape(shape).unsqueeze(axis_of_heads);
}

/// x is (N, heads, L, D), or (N, L, heads · D) with the number of heads as an attribute. In each head, pairs of the
/// first R elements are rotated. With `interleaved`, a pair is two neighbours, otherwise elements i and i + R / 2.
Run rotary_embedding(Call& call) {
  call.check_counts(3, 4);
  call.gives_type_of(0);
  const bool interleaved = call.integer("interleaved", 0) != 0;
  const std::int64_t given_size = call.integer("rotary_embedding_dim", 0), heads = call.integer("num_heads", 0);
  return [=](const Data& in, Device device) {
    const Tensor given = in[0].tensor(device), positions = input_of(in, 3, device);
    const bool packed = given.dim() == 3;
    require(given.dim() == 4 || (packed && heads > 0 && given.size(2) % heads == 0), "onnx", "an input of shape ",
            given.shape(), " with ", heads, " heads");
    const Tensor x = packed ? given.reshape({given.size(0), given.size(1), heads, given.size(2) / heads}) : given;
    const std::int64_t size = given_size == 0 ? x.size(3) : given_size, half = size / 2;
    require(size > 0 && size % 2 == 0 && size <= x.size(3), "onnx", size, " elements of ", x.size(3), " are rotated");
    const int axis = packed ? 2 : 1;
    const Tensor cosines = angles(in[1].tensor(device), positions, axis, half),
                 sines = angles(in[2].tensor(device), positions, axis, half);
    const Tensor rotated = x.narrow(3, 0, size);
    Shape pairs = x.shape();
    pairs[3] = interleaved ? half : 2;
    pairs.push_back(interleaved ? 2 : half);
    const int axis_of_pair = interleaved ? 4 : 3;
    const Tensor as_pairs = rotated.reshape(pairs);
    const Tensor a = as_pairs.select(axis_of_pair, 0), b = as_pairs.select(axis_of_pair, 1);
    Tensor y = stack({cosines * a - sines * b, sines * a + cosines * b}, axis_of_pair).reshape(rotated.shape());
    if (size < x.size(3)) y = cat({y, x.narrow(3, size, x.size(3) - size)}, 3);
    return Data{packed ? y.reshape(given.shape()) : y};
  };
}

/// A causal convolution of each channel by itself. The second output is the end of the padded input, with which the
/// next call continues.
Run causal_conv_with_state(Call& call) {
  call.check_counts(2, 4, 2);
  call.all_give_type_of(0);
  const std::string activation = call.text("activation", "none");
  require(activation == "none" || activation == "silu" || activation == "swish", "onnx", "activation is ",
          file::in_quotes(activation), ", none, silu or swish expected");
  const bool has_silu = activation != "none";
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device), weight = in[1].tensor(device);
    const Tensor bias = input_of(in, 2, device), past = input_of(in, 3, device);
    require(x.dim() == 3 && weight.dim() == 3 && weight.size(0) == x.size(1) && weight.size(1) == 1, "onnx",
            "an input of shape ", x.shape(), " and a weight of shape ", weight.shape(),
            ", (N, C, L) and (C, 1, K) expected");
    const std::int64_t before = weight.size(2) - 1;
    require(!past.defined() || past.shape() == Shape({x.size(0), x.size(1), before}), "onnx", "past_state has shape ",
            past.defined() ? past.shape() : Shape());
    const Tensor padded = past.defined() ? cat({past, x}, 2) : pad(x, {{before, 0}});
    const Tensor y = conv2d(padded.to(DType::f32).unsqueeze(2), weight.to(DType::f32).unsqueeze(2),
                            bias.defined() ? bias.to(DType::f32) : bias, {.groups = static_cast<int>(x.size(1))})
                         .squeeze(2);
    return Data{(has_silu ? silu(y) : y).to(x.dtype()), padded.narrow(2, x.size(2), before)};
  };
}

/// The rule by which LinearAttention changes its state S: the new S is exp(decay) S + k vᵀ. With `corrects`, beta (v -
/// Sᵀ k) takes the place of v.
struct UpdateRule {
  explicit UpdateRule(const std::string& name)
      : decays(name == "gated" || name == "gated_delta"), corrects(name == "delta" || name == "gated_delta") {
    require(decays || corrects || name == "linear", "onnx", "update_rule is ", file::in_quotes(name));
  }
  bool decays, corrects;
};

/// Converts (N, L, heads · D) to (N, L, heads, D).
Tensor by_heads(const Tensor& x, std::int64_t heads, const char* what) {
  require(x.dim() == 3 && x.size(2) % heads == 0, "onnx", what, " has shape ", x.shape(), ", and there are ", heads,
          " heads");
  return x.to(DType::f32).reshape({x.size(0), x.size(1), heads, x.size(2) / heads});
}

/// Computes the steps of a sequence one after another. The state is (N, H, Dk, Dv).
Run linear_attention(Call& call) {
  call.check_counts(3, 6, 2);
  call.all_give_type_of(0);
  call.integer("chunk_size", 64);  // It matters only for speed.
  const std::int64_t kv_heads = call.integer("kv_num_heads", 0), q_heads = call.integer("q_num_heads", 0);
  require(kv_heads > 0 && q_heads > 0 && q_heads % kv_heads == 0, "onnx", q_heads, " heads of queries for ", kv_heads,
          " heads of keys");
  const double given_scale = call.real("scale", 0);
  const UpdateRule rule(call.text("update_rule", "gated_delta"));
  require(rule.decays == call.has_input(4) && rule.corrects == call.has_input(5), "onnx",
          "the inputs decay and beta do not fit update_rule");
  return [=](const Data& in, Device device) {
    const Tensor given = in[0].tensor(device), past = input_of(in, 3, device);
    Tensor q = by_heads(given, q_heads, "the query");
    const Tensor k = by_heads(in[1].tensor(device), kv_heads, "the key"),
                 v = by_heads(in[2].tensor(device), kv_heads, "the value");
    const std::int64_t batch = q.size(0), steps = q.size(1), size = q.size(3);
    require(k.shape() == Shape({batch, steps, kv_heads, size}) && v.size(0) == batch && v.size(1) == steps, "onnx",
            "shapes ", in[0].shape(), ", ", in[1].shape(), " and ", in[2].shape(), " of query, key and value");
    q = (q * (given_scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : given_scale))
            .reshape({batch, steps, kv_heads, q_heads / kv_heads, size});
    Tensor growth, beta;
    if (rule.decays) growth = exp(by_heads(in[4].tensor(device), kv_heads, "the decay")).unsqueeze(4);
    if (rule.corrects) beta = in[5].tensor(device).to(DType::f32).unsqueeze(3);
    const Shape state_shape{batch, kv_heads, size, v.size(3)};
    require(!past.defined() || past.shape() == state_shape, "onnx", "past_state has shape ",
            past.defined() ? past.shape() : Shape(), ", ", state_shape, " expected");
    Tensor state = past.defined() ? past.to(DType::f32) : zeros(state_shape, DType::f32, device);
    std::vector<Tensor> results;
    for (std::int64_t t = 0; t < steps; ++t) {
      const Tensor key = k.select(1, t).unsqueeze(2);
      Tensor value = v.select(1, t).unsqueeze(2);
      if (rule.decays) state = state * growth.select(1, t);
      if (rule.corrects) value = beta.select(1, t).unsqueeze(3) * (value - matmul(key, state));
      state = state + key.transpose(2, 3) * value;
      results.push_back(matmul(q.select(1, t), state).reshape({batch, q_heads * v.size(3)}));
    }
    return Data{stack(results, 1).to(given.dtype()), state.to(past.defined() ? past.dtype() : given.dtype())};
  };
}

/// The n-grams of one length in TfIdfVectorizer.
struct Grams {
  std::int64_t length, count;
  Numbers tokens;  ///< The tokens of all grams, one gram after another. Each gram has `length` tokens.
};

/// Reads the attributes pool_int64s and ngram_counts: the grams of each length up to max_gram_length.
std::vector<Grams> grams_of(Call& call) {
  const Numbers pool = call.integers("pool_int64s"), starts = call.integers("ngram_counts");
  const auto size = static_cast<std::int64_t>(pool.size());
  std::vector<Grams> grams;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto length = static_cast<std::int64_t>(i + 1);
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
    require(starts[i] >= 0 && starts[i] <= end && end <= size && (end - starts[i]) % length == 0, "onnx",
            "attribute ngram_counts: grams of length ", length, " from token ", starts[i], " to ", end, " of ", size);
    grams.push_back({length, (end - starts[i]) / length, Numbers(pool.begin() + starts[i], pool.begin() + end)});
  }
  return grams;
}

/// The largest step between the tokens of a gram with which the gram fits into a sequence. For single tokens the step
/// has no effect.
std::int64_t most_steps(std::int64_t tokens, std::int64_t length) {
  if (length == 1) return std::min<std::int64_t>(tokens, 1);
  return (tokens - 1) / (length - 1);
}

/// How often each gram occurs in the rows of x (N, C), as (N, grams) in f32. The tokens of a gram are `step` apart.
Tensor counts_of(const Tensor& x, const Tensor& tokens, std::int64_t step) {
  const std::int64_t length = tokens.size(1), places = x.size(1) - step * (length - 1);
  Tensor found;
  for (std::int64_t i = 0; i < length; ++i) {
    const Tensor equal = x.narrow(1, i * step, places).unsqueeze(2).eq(tokens.select(1, i)).to(DType::f32);
    found = found.defined() ? found * equal : equal;
  }
  return found.sum({1});
}

/// Counts the grams of a vocabulary in sequences of tokens. Positions and weights of the output are as in ONNX Runtime
/// and in ONNX's reference: weight i belongs to element i of a row, not to gram i.
Run tf_idf_vectorizer(Call& call) {
  constexpr std::int64_t most_columns = std::int64_t{1} << 31;
  call.check_counts(1, 1);
  call.gives(0, value_of(DType::f32));
  const std::string mode = call.text_of("mode", {"TF", "IDF", "TFIDF"});
  const std::int64_t shortest = call.integer("min_gram_length", 1), longest = call.integer("max_gram_length", 1),
                     most_skipped = call.integer("max_skip_count", 0);
  const Numbers places = call.integers("ngram_indexes");
  const std::vector<double> weights = call.reals("weights");
  const std::vector<Grams> grams = grams_of(call);
  std::int64_t count = 0, columns = 0;
  for (const Grams& one : grams) count += one.count;
  for (const std::int64_t place : places) {
    require(place >= 0 && place < most_columns, "onnx", "attribute ngram_indexes has ", place);
    columns = std::max(columns, place + 1);
  }
  require(count > 0 && static_cast<std::int64_t>(places.size()) == count, "onnx", "attribute ngram_indexes has ",
          places.size(), " places for ", count, " grams");
  require(
      shortest >= 1 && shortest <= longest && longest <= static_cast<std::int64_t>(grams.size()) && most_skipped >= 0,
      "onnx", "grams of length ", shortest, " to ", longest, " of ", grams.size(), ", with up to ", most_skipped,
      " tokens skipped");
  require(weights.empty() || static_cast<std::int64_t>(weights.size()) == columns, "onnx", "attribute weights has ",
          weights.size(), " numbers for ", columns, " columns");
  call.require_dtype(0, TypesThat{holds_counts});
  return [=](const Data& in, Device device) {
    const Tensor given = in[0].tensor(device);
    require(given.dim() == 1 || given.dim() == 2, "onnx", "an input of shape ", given.shape(),
            ", (C) or (N, C) expected");
    const Tensor x = (given.dim() == 1 ? given.unsqueeze(0) : given).to(DType::i64);
    std::vector<Tensor> counts;
    for (const Grams& one : grams) {
      if (one.count == 0) continue;
      const Tensor tokens = from_vector(one.tokens, {one.count, one.length}, DType::i64, device);
      Tensor sum = zeros({x.size(0), one.count}, DType::f32, device);
      const bool is_counted = shortest <= one.length && one.length <= longest;
      const std::int64_t fitting = most_steps(x.size(1), one.length);
      for (std::int64_t step = 1; is_counted && step <= fitting && step - 1 <= most_skipped; ++step)
        sum = sum + counts_of(x, tokens, step);
      counts.push_back(sum);
    }
    const Tensor to = from_vector(places, {count}, DType::i64, device);
    Tensor y = index_add(zeros({x.size(0), columns}, DType::f32, device), 1, to, cat(counts, 1));
    if (mode == "IDF") y = y.gt(0).to(DType::f32);
    if (mode != "TF" && !weights.empty()) y = y * from_vector(weights, {columns}, DType::f32, device);
    return Data{given.dim() == 1 ? y.squeeze(0) : y};
  };
}

}  // namespace

std::vector<Row> token_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"CausalConvWithState", 27, newest, causal_conv_with_state},
      {"LinearAttention", 27, newest, linear_attention},
      {"RotaryEmbedding", 23, newest, rotary_embedding},
      {"TfIdfVectorizer", 9, newest, tf_idf_vectorizer},
  };
}

}  // namespace crisol::onnx
