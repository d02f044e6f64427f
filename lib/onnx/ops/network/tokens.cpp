// Ops over the tokens of a sequence. Some of them keep a state between calls.
#include <cmath>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pad.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

/// The cosines or sines (N, L, R / 2) for each position, with an axis of heads inserted.
Tensor angles(const Tensor& table, const Tensor& positions, int axis_of_heads, std::int64_t half) {
  require(table.dim() == (positions.defined() ? 2 : 3) && table.size(-1) == half, "onnx", "cosines or sines of shape ",
          table.shape(), ", and ", half, " for each position expected");
  if (!positions.defined()) return table.unsqueeze(axis_of_heads);
  Shape shape = positions.shape();
  shape.push_back(half);
  return index_select(table, 0, positions.reshape(positions.numel())).reshape(shape).unsqueeze(axis_of_heads);
}

/// x (N, heads, L, D), or (N, L, heads · D) with the number of heads as an attribute. Pairs of the first R elements of
/// each head are rotated: neighbours if interleaved, otherwise elements i and i + R / 2.
Run rotary_embedding(Call& call) {
  call.check_counts(3, 4);
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

/// A causal convolution of each channel by itself. The second output is the end of the padded input, from which the
/// next call goes on.
Run causal_conv_with_state(Call& call) {
  call.check_counts(2, 4, 2);
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

/// The rule by which LinearAttention changes its state S: S becomes exp(decay) S + k vᵀ. With `corrects`, v is replaced
/// by beta (v - Sᵀ k) before it is added.
struct UpdateRule {
  explicit UpdateRule(const std::string& name)
      : decays(name == "gated" || name == "gated_delta"), corrects(name == "delta" || name == "gated_delta") {
    require(decays || corrects || name == "linear", "onnx", "update_rule is ", file::in_quotes(name));
  }
  bool decays, corrects;
};

/// (N, L, heads · D) as (N, L, heads, D).
Tensor by_heads(const Tensor& x, std::int64_t heads, const char* what) {
  require(x.dim() == 3 && x.size(2) % heads == 0, "onnx", what, " has shape ", x.shape(), ", and there are ", heads,
          " heads");
  return x.to(DType::f32).reshape({x.size(0), x.size(1), heads, x.size(2) / heads});
}

/// Walks over the steps of a sequence. The state is (N, H, Dk, Dv).
Run linear_attention(Call& call) {
  call.check_counts(3, 6, 2);
  call.integer("chunk_size", 64);  // For speed only.
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

}  // namespace

std::vector<Row> token_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"CausalConvWithState", 27, newest, causal_conv_with_state},
      {"LinearAttention", 27, newest, linear_attention},
      {"RotaryEmbedding", 23, newest, rotary_embedding},
  };
}

}  // namespace crisol::onnx
