#include "crisol/functions/attention.h"

#include <cmath>
#include <limits>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/softmax.h"
#include "functions/gradients.h"
#include "ops/attention/attention.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/product/leading_axes.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;
using autograd::SavedResult;
using autograd::unnoted;

namespace {

constexpr const char* op = "scaled_dot_product_attention";
constexpr double infinity = std::numeric_limits<double>::infinity();

using ops::Attention;

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value) {
  require(query.defined() && key.defined() && value.defined(), op, "an operand is undefined");
  for (const Tensor& x : {query, key, value}) {
    require(is_floating(x.dtype()) && x.dtype() == query.dtype(), op, "the operands must have one dtype, ",
            TypesThat{is_floating}, "; ", "they are ", query.dtype(), ", ", key.dtype(), " and ", value.dtype());
    require(x.dim() >= 2, op, "the operands must have at least 2 axes, their shapes are ", query.shape(), ", ",
            key.shape(), " and ", value.shape());
    ops::require_device(op, "the query", query, "another operand", x);
  }
  require(query.size(-1) == key.size(-1), op, "a query has ", query.size(-1), " elements, a key ", key.size(-1));
  require(key.size(-2) == value.size(-2), op, "there are ", key.size(-2), " keys and ", value.size(-2), " values");
}

/// Splits the heads (…, H, R, C) of queries, or of a mask, into groups of neighbours: (…, H / group, group, R, C).
Tensor in_groups(const Tensor& x, std::int64_t group) {
  if (x.dim() < 3) return x;
  if (x.size(-3) == 1) return x.unsqueeze(-3);
  Shape shape = ops::leading_axes(x.shape());
  shape[shape.rank() - 1] /= group;
  for (const std::int64_t size : {group, x.size(-2), x.size(-1)}) shape.push_back(size);
  return x.reshape(shape);
}

/// How many heads of queries share a head of keys.
std::int64_t group_of(const Tensor& query, const Tensor& key, const Tensor& value) {
  const auto shapes = [&] { return concat(query.shape(), ", ", key.shape(), " and ", value.shape()); };
  require(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, op, "enable_gqa needs an axis of heads in shapes ",
          shapes());
  const std::int64_t heads = key.size(-3);
  require(heads > 0 && heads == value.size(-3) && query.size(-3) % heads == 0, op,
          "enable_gqa needs a multiple of the heads of keys in the query, and as many heads of values; the shapes are ",
          shapes());
  return query.size(-3) / heads;
}

/// The numbers that a mask adds to the scores, in the type of the scores.
Tensor bias_of(const Tensor& mask, const Shape& scores, DType type) {
  require(mask.dtype() == DType::boolean || is_floating(mask.dtype()), op, "the mask must be bool, ",
          TypesThat{is_floating}, ", it is ", mask.dtype());
  require(ops::broadcast_shape(op, mask.shape(), scores) == scores, op, "a mask of shape ", mask.shape(),
          " for scores of shape ", scores);
  if (mask.dtype() != DType::boolean) return mask.to(type);
  return where(mask, zeros(Shape(), type, mask.device()), -infinity);
}

/// The mask, with -inf where a query must not see a key because of `causal`.
Tensor full_bias(const Attention& a) {
  if (!a.causal) return a.bias;
  const auto places = [&](const Tensor& x) {
    return arange(0, static_cast<double>(x.size(-2)), 1, DType::i64, x.device());
  };
  const Tensor seen = places(a.k).le(places(a.q).unsqueeze(1));
  return where(seen, a.bias.defined() ? a.bias : zeros(Shape(), value_type(a.q.dtype()), a.q.device()), -infinity);
}

/// The weights of the values for each query: softmax of the scores.
Tensor probabilities(const Attention& a) {
  const Tensor scores = matmul(a.q * a.scale, a.k.transpose(-2, -1));
  const Tensor bias = full_bias(a);
  if (!bias.defined()) return softmax(scores, -1);
  if (!a.bias.defined() || bias.size(-1) == 0) return softmax(scores + bias, -1);
  // Softmax of a row would be NaN if its query sees no key, so such a row is set to 0. Only a mask can cause this.
  const Tensor sees_none = max(bias.detach(), {-1}, true).eq(-infinity);
  return where(sees_none, 0, softmax(scores + where(sees_none, 0, bias), -1));
}

/// The operands in the type of the computation.
Attention widened(const Attention& a) {
  const DType type = value_type(a.q.dtype());
  return {a.q.to(type), a.k.to(type), a.v.to(type), a.bias, a.causal, a.scale};
}

Tensor composed(const Attention& given, double dropout_p) {
  const Attention a = widened(given);
  const Tensor weights = probabilities(a);
  return matmul(dropout_p > 0 ? dropout(weights, dropout_p) : weights, a.v).to(given.q.dtype());
}

/// The probabilities are computed again, because the kernel does not store them. The gradient of the bias
/// is composed, and so is a gradient that has a gradient.
auto attention_backward(const Attention& a, const Tensor& result) {
  return [q = Saved(a.q), k = Saved(a.k), v = Saved(a.v), bias = Saved(a.bias), y = SavedResult(result),
          causal = a.causal, scale = a.scale](const Tensor& of_result, Needs needs) {
    const Attention given{q.get(), k.get(), v.get(), bias.get(), causal, scale};
    if (!needs[3] && !autograd::linked({given.q, given.k, given.v, given.bias, of_result})) {
      const ops::AttentionGradients fused = ops::attention_backward(given, y.get(), of_result);
      if (fused.q.defined())
        return Gradients{autograd::sum_to(fused.q, given.q.shape()), autograd::sum_to(fused.k, given.k.shape()),
                         autograd::sum_to(fused.v, given.v.shape()), Tensor()};
    }
    const Attention again = widened(given);
    const Tensor weights = probabilities(again), dy = of_result.to(weights.dtype());
    const auto like = [](const Tensor& x, const Saved& input) {
      return autograd::sum_to(x, input.get().shape()).to(input.get().dtype());
    };
    Gradients gradients(4);
    if (needs[2]) gradients[2] = like(matmul(weights.transpose(-2, -1), dy), v);
    if (!needs[0] && !needs[1] && !needs[3]) return gradients;
    const Tensor dscores = weights * (matmul(dy, again.v.transpose(-2, -1)) - sum(dy * y.get(), {-1}, true));
    if (needs[0]) gradients[0] = like(matmul(dscores, again.k) * scale, q);
    if (needs[1]) gradients[1] = like(matmul(dscores.transpose(-2, -1), again.q) * scale, k);
    if (needs[3]) gradients[3] = like(dscores, bias);
    return gradients;
  };
}

Tensor attend(const Attention& a, double dropout_p) {
  if (dropout_p > 0) return composed(a, dropout_p);
  const Tensor y =
      computes_in_f32(a.q.dtype()) ? ops::fused_attention(a, autograd::linked({a.q, a.k, a.v, a.bias})) : Tensor();
  if (!y.defined()) return composed(a, 0);
  return call(op, {a.q, a.k, a.v, a.bias}, y, unnoted, [&] { return attention_backward(a, y); });
}

double scale_of(const Tensor& query, const AttentionOptions& options) {
  return options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                 const AttentionOptions& options) {
  check_operands(query, key, value);
  require(options.dropout_p >= 0 && options.dropout_p <= 1, op, "dropout_p is ", options.dropout_p,
          ", it must be in [0, 1]");
  Attention a{query, key, value, Tensor(), options.is_causal, scale_of(query, options)};
  const std::int64_t group = options.enable_gqa ? group_of(query, key, value) : 1;
  Shape heads = ops::leading_axes(query.shape());
  for (const Tensor& x : {key, value}) {
    Shape others = ops::leading_axes(x.shape());
    if (options.enable_gqa) others[others.rank() - 1] *= group;
    heads = ops::broadcast_shape(op, heads, others);
  }
  Shape scores = heads;
  scores.push_back(query.size(-2));
  scores.push_back(key.size(-2));
  if (mask.defined()) {
    ops::require_device(op, "the query", query, "the mask", mask);
    a.bias = bias_of(mask, scores, value_type(query.dtype()));
  }
  if (!options.enable_gqa) return attend(a, options.dropout_p).to(query.dtype());
  a.q = in_groups(a.q, group);
  a.k = a.k.unsqueeze(-3);
  a.v = a.v.unsqueeze(-3);
  if (mask.defined()) a.bias = in_groups(a.bias, group);
  Shape shape = scores;
  shape[shape.rank() - 1] = value.size(-1);
  return attend(a, options.dropout_p).reshape(shape).to(query.dtype());
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                                    const AttentionOptions& options) {
  if (const autograd::Autocasts casts(op); casts)
    return scaled_dot_product_attention(casts(query), casts(key), casts(value), mask, options);
  const auto compute = [&] { return attention(query, key, value, mask, options); };
  if (options.dropout_p > 0) return compute();
  return autograd::noted_as_one(compute, [&](Trace& trace, const Tensor& y) {
    trace.note(GraphOp::attention, {query, key, value, mask}, y,
               {{"scale", scale_of(query, options)},
                {"is_causal", options.is_causal ? 1 : 0},
                {"enable_gqa", options.enable_gqa ? 1 : 0}});
  });
}

}  // namespace crisol
