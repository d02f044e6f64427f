#include "ops/attention/attention.h"

#include <array>

#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/product/leading_axes.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

/// An empty plan: the caller composes the op of products and softmax.
PlanOr plan_composed(const AttentionProblem&, const Target&, std::size_t) { return Plan(); }

constexpr Variant<AttentionProblem> variants[] = {{"rows", DeviceClass::cpu, plan_attention_rows},
                                                  {"composed", DeviceClass::any, plan_composed}};
const Table<AttentionProblem> attention_table("attention", variants);

Contiguous with_contiguous_rows(const Tensor& x) {
  return x.strides()[x.dim() - 1] == 1 ? Contiguous::as_is(x) : Contiguous(x);
}

Contiguous with_unit_stride(const Tensor& x) {
  return x.strides()[x.dim() - 2] == 1 ? Contiguous::as_is(x) : with_contiguous_rows(x);
}

/// The result, whose rows lie in memory like those of the queries: heads of a row are neighbours if they are so in q.
Tensor result_like(const Tensor& q, const Shape& shape) {
  const int rank = shape.rank();
  const bool rows_outside = rank >= 3 && q.dim() == rank && q.strides()[rank - 2] > q.strides()[rank - 3];
  if (!rows_outside) return empty(shape, DType::f32, q.device());
  Shape stored = shape;
  std::swap(stored[rank - 2], stored[rank - 3]);
  return empty(stored, DType::f32, q.device()).transpose(rank - 2, rank - 3);
}

}  // namespace

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, bool causal,
                       double scale) {
  Shape shape = leading_axes(q.shape());
  for (const Tensor* const x : {&k, &v}) shape = broadcast_shape(attention_table.op, shape, leading_axes(x->shape()));
  const Shape joint = shape;
  shape.push_back(q.size(-2));
  shape.push_back(v.size(-1));
  if (shape.numel() == 0 || k.size(-2) == 0 || k.size(-1) == 0) return {};

  const Contiguous queries = with_contiguous_rows(q), keys = with_unit_stride(k), values = with_unit_stride(v);
  const Tensor y = result_like(q, shape);
  Shape scores = joint;
  scores.push_back(q.size(-2));
  scores.push_back(k.size(-2));
  const Shape bias_strides = bias.defined() ? broadcast_strides(bias, scores) : Shape::filled(scores.rank(), 0);
  const Shape bias_heads(bias_strides.begin(), static_cast<std::size_t>(joint.rank()));
  const Shape strides[] = {leading_strides(queries.layout(), joint), leading_strides(keys.layout(), joint),
                           leading_strides(values.layout(), joint), bias_heads, leading_strides(y, joint)};
  const Loop loop = collapse(joint, strides);
  const int axes = loop.shape.rank();
  if (axes > 3) return {};

  AttentionProblem p{{1, 1, 1},      q.size(-2), k.size(-2), q.size(-1), v.size(-1), causal,
                     bias.defined(), {},         {},         {},         {},         {}};
  const auto describe = [&](HeadStrides& of, std::size_t operand, std::int64_t row, std::int64_t column) {
    for (int i = 0; i < axes; ++i) of.axes[3 - axes + i] = loop.strides[operand][i];
    of.row = row;
    of.column = column;
  };
  for (int i = 0; i < axes; ++i) p.heads[3 - axes + i] = loop.shape[i];
  const auto describe_matrix = [&](HeadStrides& of, std::size_t operand, const Tensor& x) {
    describe(of, operand, x.strides()[x.dim() - 2], x.size(-1) == 1 ? 1 : x.strides()[x.dim() - 1]);
  };
  describe_matrix(p.q, 0, queries.layout());
  describe_matrix(p.k, 1, keys.layout());
  describe_matrix(p.v, 2, values.layout());
  describe(p.bias, 3, bias_strides[joint.rank()], bias_strides[joint.rank() + 1]);
  describe_matrix(p.y, 4, y);
  const PreparedPtr prepared = prepare(attention_table, p, state_of(q));
  if (prepared->plan.arg_count() == 0) return {};  // "composed".
  launch(*prepared, {in(queries), in(keys), in(values), bias.defined() ? in(bias) : in(queries), out(y)},
         {static_cast<float>(scale)});
  return y;
}

}  // namespace crisol::ops
