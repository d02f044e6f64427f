#include "ops/attention/attention.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/product/leading_axes.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

/// An empty plan. It tells the caller to compose attention of products and softmax.
PlanOr plan_composed(const AttentionProblem&, const Target&, std::size_t) { return Plan(); }

constexpr Variant<AttentionProblem> variants[] = {{"rows", DeviceClass::cpu, plan_attention_rows},
                                                  {"single", DeviceClass::cpu, plan_attention_single},
                                                  {"tiles", DeviceClass::gpu, plan_attention_tiles},
                                                  {"composed", DeviceClass::any, plan_composed}};
const Table<AttentionProblem> attention_table("attention", variants);

Contiguous with_contiguous_rows(const Tensor& x) {
  return x.strides()[x.dim() - 1] == 1 ? Contiguous::as_is(x) : Contiguous(x);
}

/// An empty result. In memory its rows follow each other like the queries' rows: heads of a row are neighbours if they
/// are neighbours in q.
Tensor result_like(const Tensor& q, const Shape& shape) {
  const int rank = shape.rank();
  const bool rows_outside = rank >= 3 && q.dim() == rank && q.strides()[rank - 2] > q.strides()[rank - 3];
  if (!rows_outside) return empty(shape, q.dtype(), q.device());
  Shape stored = shape;
  std::swap(stored[rank - 2], stored[rank - 3]);
  return empty(stored, q.dtype(), q.device()).transpose(rank - 2, rank - 3);
}

/// The leading axes to which all operands broadcast.
Shape joint_heads(const Shape& q, const Shape& k, const Shape& v) {
  const Shape of_both = broadcast_shape(attention_table.op, leading_axes(q), leading_axes(k));
  return broadcast_shape(attention_table.op, of_both, leading_axes(v));
}

Shape with_matrix(Shape heads, std::int64_t rows, std::int64_t columns) {
  heads.push_back(rows);
  heads.push_back(columns);
  return heads;
}

bool is_empty(const AttentionProblem& p) { return p.head_count() * p.rows * p.keys * p.depth * p.columns == 0; }

/// The sizes of the problem, without heads and strides.
AttentionProblem sizes_of(const Shape& q, const Shape& k, const Shape& v, bool has_bias, bool causal) {
  AttentionProblem p{};
  p.rows = q[q.rank() - 2];
  p.keys = k[k.rank() - 2];
  p.depth = k[k.rank() - 1];
  p.columns = v[v.rank() - 1];
  p.has_bias = has_bias;
  p.causal = causal;
  p.of_precision = static_cast<std::int64_t>(precision());
  return p;
}

bool are_multiples(std::initializer_list<std::int64_t> values) {
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value % 4 == 0; });
}

/// Whether an operand with `size` neighbours can be read four elements at a time.
bool is_aligned(const HeadStrides& x, std::int64_t size, std::uint64_t first) {
  const std::int64_t across = x.column == 1 ? x.row : x.column;
  return are_multiples({size, across, x.axes[0], x.axes[1], x.axes[2], static_cast<std::int64_t>(first % 4)});
}

/// The strides of an operand, from the strides of its heads' axes.
HeadStrides head_strides(const Shape& heads, std::int64_t row, std::int64_t column) {
  HeadStrides strides{{}, row, column};
  for (int i = 0; i < heads.rank(); ++i) strides.axes[3 - heads.rank() + i] = heads[i];
  return strides;
}

HeadStrides head_strides(const Shape& heads, const Tensor& x) {
  return head_strides(heads, x.strides()[x.dim() - 2], x.size(-1) == 1 ? 1 : x.strides()[x.dim() - 1]);
}

}  // namespace

kernels::AttentionParameters AttentionProblem::parameters() const {
  return {.heads = head_count(),
          .heads1 = heads[1],
          .heads2 = heads[2],
          .slice = 0,
          .rows = kernels::number(rows),
          .keys = kernels::number(keys),
          .depth = kernels::number(depth),
          .columns = kernels::number(columns),
          .block = 0,
          .key_block = 0,
          .causal = kernels::number(causal),
          .has_bias = kernels::number(has_bias)};
}

const char* against_operands(const AttentionProblem& p) {
  constexpr std::int64_t max_int = std::numeric_limits<std::int32_t>::max() / 4;
  for (const std::int64_t size : {p.rows, p.keys, p.depth, p.columns})
    if (size > max_int) return "too large for the kernels' indices";
  if (p.q.column != 1) return "the rows of the queries are not contiguous";
  const auto has_unit_stride = [](const HeadStrides& x) { return x.row == 1 || x.column == 1; };
  return has_unit_stride(p.k) && has_unit_stride(p.v) ? nullptr : "neither stride of an operand is 1";
}

PlanOr unless_kept(const AttentionProblem& p, Plan plan) {
  constexpr std::int64_t most_kept = std::int64_t{1} << 24;  // 64 MB.
  if (p.records == 0 || p.head_count() * p.rows > most_kept / p.keys) return plan;
  return PlanOr::only_forced(std::move(plan), "the gradient takes less time with probabilities that are kept");
}

bool fuses_attention(const Shape& q, const Shape& k, const Shape& v, bool has_bias, Device device) {
  AttentionProblem p = sizes_of(q, k, v, has_bias, false);
  p.heads[0] = p.heads[1] = 1;
  p.heads[2] = joint_heads(q, k, v).numel();
  p.q.row = p.k.row = p.depth;
  p.v.row = p.y.row = p.columns;
  p.q.column = p.k.column = p.v.column = p.y.column = 1;
  return !is_empty(p) && choose(attention_table, p, target_of(device.state())).plan.arg_count() > 0;
}

Tensor fused_attention(const Attention& a, bool records) {
  const auto& [q, k, v, bias, causal, scale] = a;
  const Shape heads = joint_heads(q.shape(), k.shape(), v.shape());
  const Contiguous queries = with_contiguous_rows(q), keys = with_unit_stride(k), values = with_unit_stride(v);
  const Tensor y = result_like(q, with_matrix(heads, q.size(-2), v.size(-1)));
  const Shape scores = with_matrix(heads, q.size(-2), k.size(-2));
  const Shape of_bias = bias.defined() ? broadcast_strides(bias, scores) : Shape::filled(scores.rank(), 0);
  const Shape strides[] = {leading_strides(queries.layout(), heads), leading_strides(keys.layout(), heads),
                           leading_strides(values.layout(), heads), leading_axes(of_bias), leading_strides(y, heads)};
  const Loop loop = collapse(heads, strides);
  if (loop.shape.rank() > 3) return {};

  AttentionProblem p = sizes_of(q.shape(), k.shape(), v.shape(), bias.defined(), causal);
  for (int i = 0; i < 3; ++i) p.heads[i] = i < 3 - loop.shape.rank() ? 1 : loop.shape[i - 3 + loop.shape.rank()];
  p.q = head_strides(loop.strides[0], queries.layout());
  p.k = head_strides(loop.strides[1], keys.layout());
  p.v = head_strides(loop.strides[2], values.layout());
  p.bias = head_strides(loop.strides[3], of_bias[heads.rank()], of_bias[heads.rank() + 1]);
  p.y = head_strides(loop.strides[4], y);
  if (is_empty(p)) return {};
  p.records = records;
  p.type = storage_of(q);
  p.aligned = is_aligned(p.q, p.depth, in(queries.layout()).offset) &&
              is_aligned(p.k, p.k.column == 1 ? p.depth : p.keys, in(keys.layout()).offset) &&
              is_aligned(p.v, p.v.column == 1 ? p.columns : p.keys, in(values.layout()).offset);
  const PreparedPtr prepared = prepare(attention_table, p, state_of(q));
  if (prepared->plan.arg_count() == 0) return {};  // "composed".
  launch(*prepared, {in(queries), in(keys), in(values), bias.defined() ? in(bias) : in(queries), out(y)},
         {static_cast<float>(scale)});
  return y;
}

}  // namespace crisol::ops
