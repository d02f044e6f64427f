#include "ops/attention/attention.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

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

PlanOr plan_composed_backward(const AttentionGradientProblem&, const Target&, std::size_t) { return Plan(); }

constexpr Variant<AttentionGradientProblem> backward_variants[] = {
    {"rows", DeviceClass::cpu, plan_attention_backward_rows}, {"composed", DeviceClass::any, plan_composed_backward}};
const Table<AttentionGradientProblem> backward_table("attention_backward", backward_variants);

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

/// The operands of a call as kernels read them.
struct Operands {
  explicit Operands(const Attention& attention)
      : a(attention),
        heads(joint_heads(a.q.shape(), a.k.shape(), a.v.shape())),
        queries(with_contiguous_rows(a.q)),
        keys(with_unit_stride(a.k)),
        values(with_unit_stride(a.v)) {}

  const Attention& a;
  Shape heads;
  Contiguous queries, keys, values;

  OperandView bias() const { return a.bias.defined() ? in(a.bias) : in(queries); }

  /// The problem with a result. Gives the strides of other tensors that have the same heads, too. Returns nothing if
  /// there is nothing to compute, or if the heads have too many axes.
  std::optional<AttentionProblem> problem(const Tensor& y, std::initializer_list<Tensor> others,
                                          std::initializer_list<HeadStrides*> of_others) const;
};

std::optional<AttentionProblem> Operands::problem(const Tensor& y, std::initializer_list<Tensor> others,
                                                  std::initializer_list<HeadStrides*> of_others) const {
  const Shape scores = with_matrix(heads, a.q.size(-2), a.k.size(-2));
  const Shape of_bias = a.bias.defined() ? broadcast_strides(a.bias, scores) : Shape::filled(scores.rank(), 0);
  std::vector<Shape> strides{leading_strides(queries.layout(), heads), leading_strides(keys.layout(), heads),
                             leading_strides(values.layout(), heads), leading_axes(of_bias), leading_strides(y, heads)};
  for (const Tensor& x : others) strides.push_back(leading_strides(x, heads));
  const Loop loop = collapse(heads, strides);
  if (loop.shape.rank() > 3) return {};

  AttentionProblem p = sizes_of(a.q.shape(), a.k.shape(), a.v.shape(), a.bias.defined(), a.causal);
  for (int i = 0; i < 3; ++i) p.heads[i] = i < 3 - loop.shape.rank() ? 1 : loop.shape[i - 3 + loop.shape.rank()];
  if (is_empty(p)) return {};
  p.q = head_strides(loop.strides[0], queries.layout());
  p.k = head_strides(loop.strides[1], keys.layout());
  p.v = head_strides(loop.strides[2], values.layout());
  p.bias = head_strides(loop.strides[3], of_bias[heads.rank()], of_bias[heads.rank() + 1]);
  p.y = head_strides(loop.strides[4], y);
  for (std::size_t i = 0; i < others.size(); ++i)
    *of_others.begin()[i] = head_strides(loop.strides[5 + i], others.begin()[i]);
  p.type = storage_of(a.q);
  p.aligned = is_aligned(p.q, p.depth, in(queries.layout()).offset) &&
              is_aligned(p.k, p.k.column == 1 ? p.depth : p.keys, in(keys.layout()).offset) &&
              is_aligned(p.v, p.v.column == 1 ? p.columns : p.keys, in(values.layout()).offset);
  return p;
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
  const Operands of(a);
  const Tensor y = result_like(a.q, with_matrix(of.heads, a.q.size(-2), a.v.size(-1)));
  std::optional<AttentionProblem> p = of.problem(y, {}, {});
  if (!p) return {};
  p->records = records;
  const PreparedPtr prepared = prepare(attention_table, *p, state_of(a.q));
  if (prepared->plan.arg_count() == 0) return {};  // "composed".
  launch(*prepared, {in(of.queries), in(of.keys), in(of.values), of.bias(), out(y)}, {static_cast<float>(a.scale)});
  return y;
}

AttentionGradients attention_backward(const Attention& a, const Tensor& y, const Tensor& dy) {
  const Operands of(a);
  const Contiguous result = with_contiguous_rows(y), gradient = with_contiguous_rows(dy);
  const AttentionGradients results{result_like(a.q, with_matrix(of.heads, a.q.size(-2), a.q.size(-1))),
                                   result_like(a.k, with_matrix(of.heads, a.k.size(-2), a.k.size(-1))),
                                   result_like(a.v, with_matrix(of.heads, a.v.size(-2), a.v.size(-1)))};
  AttentionGradientProblem p{};
  const std::optional<AttentionProblem> forward =
      of.problem(result.layout(), {gradient.layout(), results.q, results.k, results.v}, {&p.dy, &p.dq, &p.dk, &p.dv});
  if (!forward) return {};
  p.forward = *forward;
  const PreparedPtr prepared = prepare(backward_table, p, state_of(a.q));
  if (prepared->plan.arg_count() == 0) return {};  // "composed".
  launch(*prepared,
         {in(of.queries), in(of.keys), in(of.values), of.bias(), in(result), in(gradient), out(results.q),
          out(results.k), out(results.v)},
         {static_cast<float>(a.scale)});
  return results;
}

AttentionGradients attention_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& y,
                                      const Tensor& dy, bool causal, double scale) {
  constexpr const char* op = "attention_backward";
  require(q.defined() && q.dim() >= 2, op, "the queries must have at least 2 axes");
  require_storage(op, "the query", q);
  for (const Tensor& x : {k, v, y, dy}) {
    require(x.defined() && x.dim() >= 2 && x.dtype() == q.dtype(), op,
            "the operands must have at least 2 axes and one dtype");
    require_device(op, "the query", q, "another operand", x);
  }
  require(q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2), op, "shapes ", q.shape(), ", ", k.shape(), " and ",
          v.shape(), " do not fit");
  const Shape shape = with_matrix(joint_heads(q.shape(), k.shape(), v.shape()), q.size(-2), v.size(-1));
  require(y.shape() == shape && dy.shape() == shape, op, "the result and its gradient must have shape ", shape,
          ", they have ", y.shape(), " and ", dy.shape());
  return attention_backward({q, k, v, Tensor(), causal, scale}, y, dy);
}

}  // namespace crisol::ops
