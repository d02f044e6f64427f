// Attention of several heads, made of differentiable functions.
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"

namespace crisol {

namespace {

constexpr const char* heads_op = "multi_head_attention";

/// A mask as numbers that are added to scores.
Tensor as_numbers(const Tensor& mask, DType type) {
  const bool is_bool = mask.defined() && mask.dtype() == DType::boolean;
  return is_bool ? where(mask, -std::numeric_limits<double>::infinity(), 0.0).to(type) : mask;
}

Tensor both(const Tensor& a, const Tensor& b) { return a.defined() && b.defined() ? a + b : a.defined() ? a : b; }

/// A mask with places for more keys, which are seen.
Tensor widened(const Tensor& mask, std::int64_t more) {
  if (!mask.defined() || more == 0) return mask;
  Shape shape = mask.shape();
  shape[shape.rank() - 1] = more;
  return cat({mask, zeros(shape, mask.dtype(), mask.device())}, -1);
}

/// Appends to keys or values (N, S, E) the entry `last`, the same for all sequences, and with `zero` an entry of zeros.
Tensor longer(const Tensor& x, const Tensor& last, bool zero) {
  const Shape one{x.size(0), 1, x.size(2)};
  std::vector<Tensor> parts{x};
  if (last.defined()) parts.push_back(last.reshape({1, 1, x.size(2)}).expand(one).to(x.dtype()));
  if (zero) parts.push_back(zeros(one, x.dtype(), x.device()));
  return parts.size() == 1 ? x : cat(parts, 1);
}

/// (N, length, E) as (N, heads, length, E / heads).
Tensor in_heads(const Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

struct Projected {
  Tensor q, k, v;
};

/// Queries, keys and values (N, length, E) of inputs (N, length, …).
Projected projected(const Tensor& query, const Tensor& key, const Tensor& value, const MultiHeadWeights& weights,
                    bool all_same) {
  const std::int64_t n = query.size(2);
  const auto third = [n](const Tensor& x, int i) { return x.defined() ? x.narrow(0, i * n, n) : x; };
  const Tensor &packed = weights.in_proj_weight, &bias = weights.in_proj_bias;
  if (packed.defined() && all_same) {  // One product in place of three.
    const Tensor all = linear(query, packed, bias);
    return {all.narrow(2, 0, n), all.narrow(2, n, n), all.narrow(2, 2 * n, n)};
  }
  const auto one = [&](const Tensor& x, const Tensor& separate, int i) {
    return linear(x, packed.defined() ? third(packed, i) : separate, third(bias, i));
  };
  return {one(query, weights.q_proj_weight, 0), one(key, weights.k_proj_weight, 1),
          one(value, weights.v_proj_weight, 2)};
}

void check(const Tensor& query, const Tensor& key, const Tensor& value, const MultiHeadOptions& options) {
  require(query.defined() && key.defined() && value.defined(), heads_op, "an input is undefined");
  const auto shapes = [&] { return concat(query.shape(), ", ", key.shape(), " and ", value.shape()); };
  const int rank = query.dim();
  require((rank == 2 || rank == 3) && key.dim() == rank && value.dim() == rank, heads_op,
          "query, key and value must all have 3 axes, or all 2, their shapes are ", shapes());
  const int batch = options.batch_first ? 0 : 1, length = 1 - batch;
  require(rank == 2 || (key.size(batch) == query.size(batch) && value.size(batch) == query.size(batch)), heads_op,
          "the numbers of sequences differ in the shapes ", shapes());
  require(key.size(rank == 2 ? 0 : length) == value.size(rank == 2 ? 0 : length), heads_op,
          "the numbers of keys and values differ in the shapes ", shapes());
  const std::int64_t n = query.size(-1), heads = options.num_heads;
  require(heads > 0 && n % heads == 0, heads_op, heads, " heads do not divide ", n, " numbers");
}

/// All masks as one that is added to scores (N, heads, L, S), or an undefined tensor. `more` keys were appended.
Tensor joined(const AttentionMasks& masks, const Tensor& q, std::int64_t keys, std::int64_t more, std::int64_t heads) {
  const std::int64_t batch = q.size(0), length = q.size(1);
  Tensor mask = widened(masks.attn_mask, more), padding = widened(masks.key_padding_mask, more);
  if (mask.defined()) {
    const Shape own{length, keys}, of_heads{batch * heads, length, keys};
    require(mask.shape() == own || mask.shape() == of_heads, heads_op, "attn_mask must have shape ", own, " or ",
            of_heads, ", it has ", mask.shape());
    if (mask.dim() == 3) mask = mask.reshape({batch, heads, length, keys});
  }
  if (padding.defined()) {
    require(padding.numel() == batch * keys && padding.size(-1) == keys, heads_op, "key_padding_mask must have shape ",
            Shape{batch, keys}, ", it has ", padding.shape());
    padding = padding.reshape({batch, 1, 1, keys});
  }
  return both(as_numbers(mask, q.dtype()), as_numbers(padding, q.dtype()));
}

/// The mask of keys that lie behind their queries, as numbers.
Tensor causal_mask(const Tensor& q, std::int64_t keys) {
  const Tensor places = arange(static_cast<double>(keys), DType::i64, q.device());
  return as_numbers(places > arange(static_cast<double>(q.size(1)), DType::i64, q.device()).unsqueeze(1), q.dtype());
}

}  // namespace

MultiHeadResult multi_head_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const MultiHeadWeights& weights, const MultiHeadOptions& options,
                                     const AttentionMasks& masks) {
  check(query, key, value, options);
  const bool batched = query.dim() == 3, turned = batched && !options.batch_first;
  const auto of_batch = [&](const Tensor& x) { return turned ? x.transpose(0, 1) : batched ? x : x.unsqueeze(0); };
  const std::int64_t heads = options.num_heads, n = query.size(-1);
  const bool all_same = query.impl() == key.impl() && query.impl() == value.impl();
  const Projected given = projected(of_batch(query), of_batch(key), of_batch(value), weights, all_same);
  const Tensor keys = longer(given.k, weights.bias_k, options.add_zero_attn);
  const Tensor values = longer(given.v, weights.bias_v, options.add_zero_attn);
  const std::int64_t length = given.q.size(1), batch = given.q.size(0), seen = keys.size(1);
  const Tensor mask = joined(masks, given.q, seen, seen - given.k.size(1), heads);
  const Tensor q = in_heads(given.q, heads), k = in_heads(keys, heads), v = in_heads(values, heads);
  Tensor y, shares;
  if (options.need_weights) {
    const std::int64_t depth = n / heads;
    const Tensor scores = matmul(q, k.transpose(-1, -2)) * (1 / std::sqrt(static_cast<double>(depth)));
    const Tensor added = both(mask, masks.is_causal ? causal_mask(given.q, seen) : Tensor());
    shares = softmax(added.defined() ? scores + added : scores, -1);
    y = matmul(dropout(shares, options.dropout_p, options.dropout_p > 0), v);
  } else {
    const bool for_all = mask.defined() && mask.dim() == 4 && mask.size(2) == 1;
    const Tensor full_mask = for_all ? mask.expand({batch, mask.size(1), length, seen}) : mask;
    y = scaled_dot_product_attention(q, k, v, full_mask,
                                     {.is_causal = masks.is_causal, .dropout_p = options.dropout_p});
  }
  const Tensor together = y.transpose(1, 2).reshape({batch, length, n});
  const Tensor output = linear(together, weights.out_proj_weight, weights.out_proj_bias);
  if (shares.defined() && options.average_weights) shares = mean(shares, {1});
  if (!batched) return {output.squeeze(0), shares.defined() ? shares.squeeze(0) : shares};
  return {turned ? output.transpose(0, 1) : output, shares};
}

}  // namespace crisol
