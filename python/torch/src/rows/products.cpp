// Products of matrices, decompositions, attention, and the layers of transformers that PyTorch calls as one op in
// inference.
#include <ATen/ExpandUtils.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>

#include <limits>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/matmul.h"
#include "crisol/fuse.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::Shape;
using crisol::Tensor;

// float16 and bfloat16 as float32, so that only the result of several ops is rounded.
Tensor widened(const Tensor& x) { return crisol::is_half(x.dtype()) ? ops::cast(x, crisol::DType::f32) : x; }
Tensor wide_product(const Tensor& a, const Tensor& b) { return ops::matmul(widened(a), widened(b)); }

// beta c + alpha product. With beta 0, c is not read.
void combine(const Tensor& out, const Tensor& c, const Tensor& product, const crisol::Scalar& beta,
             const crisol::Scalar& alpha) {
  const Tensor sum = product.dtype() == out.dtype() ? out : crisol::empty(out.shape(), product.dtype(), out.device());
  if (beta.as_double() == 0) {
    ops::mul_into(sum, product, alpha);
  } else {
    const bool scales = beta.as_double() != 1;
    ops::addcmul_into(sum, scales ? ops::mul(widened(c), beta) : widened(c), product, 1, alpha);
  }
  if (sum.dtype() != out.dtype()) ops::copy_into(out, sum);
}

bool is_one(const crisol::Scalar& number) { return number.as_double() == 1; }

// NAME.out(c, a, b, beta, alpha, out)
void add_product(const Call& call, const Tensor& out) {
  const Tensor a = call.tensor(1), b = call.tensor(2);
  const crisol::Scalar beta = call.scalar(3), alpha = call.scalar(4);
  if (beta.as_double() == 0 && is_one(alpha)) return ops::matmul_into(out, a, b);
  const Tensor c = call.tensor(0);
  if (is_one(beta) && is_one(alpha) && c.dim() == 1 && a.dim() == 2 && c.size(0) == b.size(1))
    return ops::linear_into(out, a, ops::transpose(b, 0, 1), c);
  combine(out, c, wide_product(a, b), beta, alpha);
}

// addmv.out(c, matrix, vector, beta, alpha, out)
void add_vector_product(const Call& call, const Tensor& out) {
  const Tensor product = wide_product(call.tensor(1), ops::unsqueeze(call.tensor(2), 1));
  combine(out, call.tensor(0), ops::squeeze(product, 1), call.scalar(3), call.scalar(4));
}

Tensor dot(const Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  need(a.dim() == 1 && b.dim() == 1 && a.numel() == b.numel() && a.dtype() == b.dtype(), "the operands of dot");
  return ops::reshape(ops::matmul(ops::unsqueeze(a, 0), ops::unsqueeze(b, 1)), {});
}

void qr(const Call& call, const Tensor& q, const Tensor& r) {
  const std::string mode = call.value(1).toStringRef();
  need(mode != "r", "qr without Q");
  ops::qr_into(q, r, call.tensor(0), mode == "complete");
}

// ---- Attention

// Attention in one call, for what the library takes: PyTorch asks for each call of scaled_dot_product_attention.
std::int64_t choose_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                              const std::optional<at::Tensor>& mask, double dropout, bool, std::optional<double> scale,
                              bool) {
  const at::ScalarType type = query.scalar_type();
  const bool takes = (type == at::kFloat || type == at::kHalf || type == at::kBFloat16) && dropout == 0 &&
                     query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.numel() != 0 && key.numel() != 0 &&
                     value.numel() != 0 && query.size(1) == key.size(1) && query.size(0) == key.size(0) &&
                     !(mask && mask->defined()) && scale.value_or(1) > 0;
  return static_cast<std::int64_t>(takes ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

// The scale is the last argument.
std::optional<double> given_scale(const Call& c) {
  return c.is_none(c.size() - 1) ? std::nullopt : std::optional(c.number(c.size() - 1));
}

// x with its axes in memory in the order of an operand's axes. A compiled graph has views that rely on this order.
at::Tensor in_order_of(const at::Tensor& operand, const Tensor& x) {
  const at::Tensor result = wrap(x);
  const std::vector<std::int64_t> strides = at::infer_dense_strides(result.sizes(), operand.strides());
  if (result.strides() == at::IntArrayRef(strides) && x.dtype() == dtype_of(operand.scalar_type())) return result;
  return at::empty_strided(result.sizes(), strides, operand.options()).copy_(result);
}

// (query, key, value, mask, dropout, is_causal, return_debug_mask, scale). The gradient computes the scores again, so
// the results beside the first one are empty.
Results attention(const Call& c) {
  need(c.number(4) == 0, "attention with dropout");
  const at::Tensor query = c.torch(0);
  const Tensor mask = c.is_none(3) ? Tensor() : c.tensor(3);
  const Tensor y = crisol::scaled_dot_product_attention(c.tensor(0), c.tensor(1), c.tensor(2), mask,
                                                        {.is_causal = c.flag(5), .scale = given_scale(c)});
  const at::Tensor none = at::empty({0}, query.options());
  return {in_order_of(query, y), none, none, none, query.sym_size(2), c.torch(1).sym_size(2), none, none, none};
}

// The scores of scaled queries for keys, whose softmax are the weights of the values.
Tensor scores_of(const Tensor& q, const Tensor& k, const Tensor& mask, bool is_causal) {
  const Tensor columns = ops::transpose(k, -2, -1);
  if (!is_causal && !mask.defined()) return ops::matmul(q, columns);
  static const auto sum = crisol::fuse([](const crisol::Expr& x, const crisol::Expr& y) { return x + y; });
  Tensor added = mask;
  if (is_causal) {
    const Tensor hidden =
        crisol::full({q.size(-2), k.size(-2)}, -std::numeric_limits<double>::infinity(), q.dtype(), q.device());
    added = mask.defined() ? ops::add(mask, ops::triu(hidden, 1)) : ops::triu(hidden, 1);
  }
  return crisol::matmul(q, columns, sum.epilogue(added));
}

// (dy, query, key, value, mask, wanted, y, logsumexp, …, dropout at 12, is_causal at 13, …, scale). The operands become
// contiguous, so that a product of all heads is one launch.
Results attention_backward(const Call& c) {
  need(c.number(12) == 0, "attention with dropout");
  const at::Tensor query = c.torch(1), key = c.torch(2), value = c.torch(3);
  const bool has_mask = !c.is_none(4) && c.torch(4).defined();
  const double scale = given_scale(c).value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  if (!has_mask) {
    const ops::AttentionGradients fused =
        ops::attention_backward(c.tensor(1), c.tensor(2), c.tensor(3), c.tensor(6), c.tensor(0), c.flag(13), scale);
    if (fused.q.defined())
      return {in_order_of(query, fused.q), in_order_of(key, fused.k), in_order_of(value, fused.v), at::Tensor()};
  }
  const auto rows_of = [&](std::size_t i) { return ops::contiguous(widened(c.tensor(i))); };
  const Tensor q = ops::mul(rows_of(1), scale), k = rows_of(2), v = rows_of(3), dy = rows_of(0);
  need(!has_mask || c.torch(4).is_floating_point(), "attention with a mask of conditions");
  const Tensor mask = has_mask ? widened(c.tensor(4)) : Tensor();
  const Tensor scores = scores_of(q, k, mask, c.flag(13));
  Tensor weights = ops::softmax(scores, -1);
  if (has_mask) {  // The weights of a query that sees no key are 0.
    const Tensor sees_none = ops::eq(ops::max(scores, {-1}, true), -std::numeric_limits<double>::infinity());
    weights = ops::where(sees_none, 0.0, weights);
  }
  const Tensor of_values = ops::matmul(ops::transpose(weights, -2, -1), dy);
  const Tensor of_weights = ops::matmul(dy, ops::transpose(v, -2, -1));
  const Tensor of_scores = ops::softmax_backward(of_weights, weights, -1);
  const at::Tensor of_mask =
      has_mask ? at::sum_to(wrap(of_scores), c.torch(4).sizes()).to(c.torch(4).scalar_type()) : at::Tensor();
  return {in_order_of(query, ops::mul(ops::matmul(of_scores, k), scale)),
          in_order_of(key, ops::matmul(ops::transpose(of_scores, -2, -1), q)), in_order_of(value, of_values), of_mask};
}

// ---- Layers of transformers, from PyTorch's ops

// A mask of attention as numbers that are added to the scores of (batch, heads, queries, keys). A mask of kind 1 names
// keys: (batch, keys).
std::optional<at::Tensor> added_mask(const at::Tensor& mask, const c10::IValue& kind, const at::Tensor& like) {
  if (!mask.defined()) return std::nullopt;
  const at::Tensor seen = !kind.isNone() && kind.toInt() == 1 ? mask.unsqueeze(1).unsqueeze(2) : mask;
  if (seen.scalar_type() != at::kBool) return seen.to(like.scalar_type());
  return at::zeros(seen.sizes(), like.options()).masked_fill(seen, -std::numeric_limits<double>::infinity());
}

struct Projections {
  at::Tensor weight, bias, out_weight, out_bias;
};

// The results of nn.MultiheadAttention: the output, and the weights or an undefined tensor.
std::pair<at::Tensor, at::Tensor> attend(const std::array<at::Tensor, 3>& inputs, const Projections& p,
                                         std::int64_t heads, const std::optional<at::Tensor>& mask, bool weights,
                                         bool average) {
  const std::vector<at::Tensor> weight = p.weight.chunk(3), bias = p.bias.chunk(3);
  std::array<at::Tensor, 3> x;
  for (std::size_t i = 0; i < 3; ++i)
    x[i] = at::linear(inputs[i], weight[i], bias[i]).unflatten(-1, {heads, -1}).transpose(1, 2);
  at::Tensor result, shares;
  if (weights) {
    const at::Tensor scores = at::matmul(x[0] / std::sqrt(static_cast<double>(x[0].size(-1))), x[1].transpose(-2, -1));
    shares = at::softmax(mask ? scores + *mask : scores, -1);
    result = at::matmul(shares, x[2]);
    if (average) shares = shares.mean(1);
  } else {
    result = at::scaled_dot_product_attention(x[0], x[1], x[2], mask);
  }
  return {at::linear(result.transpose(1, 2).flatten(2), p.out_weight, p.out_bias), shares};
}

// _native_multi_head_attention(query, key, value, width, heads, weight, bias, out_weight, out_bias, mask, need_weights,
// average_weights, kind of mask)
Results multi_head_attention(const Call& c) {
  const std::optional<at::Tensor> mask = added_mask(c.torch(9), c.value(12), c.torch(0));
  auto [y, shares] = attend({c.torch(0), c.torch(1), c.torch(2)}, {c.torch(5), c.torch(6), c.torch(7), c.torch(8)},
                            c.whole(4), mask, c.flag(10), c.flag(11));
  return {std::move(y), std::move(shares)};
}

// _transformer_encoder_layer_fwd(x, width, heads, weight, bias, out_weight, out_bias, gelu, norm_first, eps, two pairs
// for the norms, two pairs for the linear layers, mask, kind of mask)
Results encoder_layer(const Call& c) {
  at::Tensor x = c.torch(0);
  const bool norm_first = c.flag(8);
  const std::optional<at::Tensor> mask = added_mask(c.torch(18), c.value(19), x);
  const auto norm = [&](const at::Tensor& y, std::size_t i) {
    return at::layer_norm(y, {c.whole(1)}, c.torch(i), c.torch(i + 1), c.number(9));
  };
  const auto attention = [&](const at::Tensor& y) {
    const Projections weights{c.torch(3), c.torch(4), c.torch(5), c.torch(6)};
    return attend({y, y, y}, weights, c.whole(2), mask, false, false).first;
  };
  const auto feed_forward = [&](const at::Tensor& y) {
    const at::Tensor hidden = at::linear(y, c.torch(14), c.torch(15));
    return at::linear(c.flag(7) ? at::gelu(hidden) : at::relu(hidden), c.torch(16), c.torch(17));
  };
  x = norm_first ? x + attention(norm(x, 10)) : norm(x + attention(x), 10);
  return {norm_first ? x + feed_forward(norm(x, 12)) : norm(x + feed_forward(x), 12)};
}

}  // namespace

Rows product_rows() {
  return {
      {"mm.out", into([](const Call& c, const Tensor& out) { ops::matmul_into(out, c.tensor(0), c.tensor(1)); })},
      {"bmm.out", into([](const Call& c, const Tensor& out) { ops::matmul_into(out, c.tensor(0), c.tensor(1)); })},
      {"addmm.out", into(add_product)},
      {"baddbmm.out", into(add_product)},
      {"addmv.out", into(add_vector_product)},
      {"dot", gives(dot)},
      {"vdot", gives(dot)},
      {"linalg_qr.out",
       [](const Call& c) {
         qr(c, c.tensor(2), c.tensor(3));
         return Results{c.value(2), c.value(3)};
       }},
      {"_scaled_dot_product_fused_attention_overrideable", attention},
      {"_scaled_dot_product_fused_attention_overrideable_backward", attention_backward},
      {"_native_multi_head_attention", multi_head_attention},
      {"_transformer_encoder_layer_fwd", encoder_layer},
      // No: then nn.TransformerEncoder makes no nested tensor, which the device does not have.
      {"_nested_tensor_from_mask_left_aligned", [](const Call&) { return Results{false}; }},
  };
}

}  // namespace crisol_torch

// For programs that ask themselves.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_fused_sdp_choice", crisol_torch::choose_attention); }

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &crisol_torch::choose_attention)
}  // namespace at::native
