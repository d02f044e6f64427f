// Attention in ONNX: the op of that name, or products and softmax.
#include <algorithm>
#include <limits>
#include <numeric>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/triangle.h"
#include "onnx/writer/lowering.h"

namespace crisol::onnx {

namespace {

using graph::Node;
using Numbers = std::vector<std::int64_t>;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Attention {
  Lowering& to;
  int query, key, value, mask;
  double scale;
  bool is_causal, has_groups;

  DType dtype() const { return to.dtype(query); }
  bool has_bool_mask() const { return mask != graph::absent && to.dtype(mask) == DType::boolean; }
};

/// The leading axes of a value, without those of heads if these are in groups.
Numbers leading(const Attention& a, int value) {
  Numbers sizes;
  for (int i = 0; i < a.to.rank(value) - (a.has_groups ? 3 : 2); ++i) sizes.push_back(a.to.size(value, i));
  return sizes;
}

/// Whether ONNX's op takes these shapes. It broadcasts only the leading axes of a mask.
bool has_op(const Attention& a) {
  const Lowering& to = a.to;
  const bool is_whole = a.mask == graph::absent ||
                        (to.rank(a.mask) >= 2 && to.rank(a.mask) <= 4 && to.size(a.mask, -2) == to.size(a.query, -2) &&
                         to.size(a.mask, -1) == to.size(a.key, -2));
  return to.rank(a.query) <= 4 && is_whole && leading(a, a.query) == leading(a, a.key) &&
         leading(a, a.query) == leading(a, a.value);
}

/// With axes of size 1 in front, for four axes in all.
int with_four_axes(Lowering& to, int x) {
  Numbers axes(static_cast<std::size_t>(4 - to.rank(x)));
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? x : to.node("Unsqueeze", {x, to.numbers(axes)});
}

int as_op(const Attention& a) {
  Lowering& to = a.to;
  std::vector<int> inputs{with_four_axes(to, a.query), with_four_axes(to, a.key), with_four_axes(to, a.value)};
  if (a.mask != graph::absent) inputs.push_back(a.mask);
  const int y = to.node("Attention", inputs, {{"scale", a.scale}, {"is_causal", a.is_causal ? 1 : 0}});
  Numbers axes(static_cast<std::size_t>(4 - to.rank(a.query)));
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? y : to.node("Squeeze", {y, to.numbers(axes)});
}

int number(Lowering& to, double value) { return to.number(value, DType::f32); }

/// Each head of keys or values as often as the queries need it.
int repeated(const Attention& a, int x) {
  Lowering& to = a.to;
  if (!a.has_groups) return x;
  const std::int64_t heads = to.size(x, -3), group = to.size(a.query, -3) / heads;
  Numbers shape(static_cast<std::size_t>(to.rank(x)), 0);
  shape.end()[-3] = heads * group;
  shape.end()[-2] = -1;
  shape.end()[-1] = to.size(x, -1);
  const int alone = to.node("Unsqueeze", {x, to.numbers({-3})});
  return to.node("Reshape", {to.node("Expand", {alone, to.numbers({group, 1, 1})}), to.numbers(shape)});
}

/// What is added to the scores; absent for nothing.
int bias_of(const Attention& a) {
  Lowering& to = a.to;
  int bias = a.mask;
  if (a.has_bool_mask())
    bias = to.node("Where", {bias, number(to, 0), number(to, -infinity)});
  else if (bias != graph::absent)
    bias = to.cast(bias, to.dtype(bias), DType::f32);
  if (!a.is_causal) return bias;
  const Tensor seen = tril(ones({to.size(a.query, -2), to.size(a.key, -2)}, DType::f32)).ne(0);
  const int causal = to.constant(where(seen, zeros({}, DType::f32), -infinity));
  return bias == graph::absent ? causal : to.node("Add", {bias, causal});
}

int as_products(const Attention& a) {
  Lowering& to = a.to;
  const int q = to.cast(a.query, a.dtype(), DType::f32), k = to.cast(repeated(a, a.key), a.dtype(), DType::f32),
            v = to.cast(repeated(a, a.value), a.dtype(), DType::f32);
  Numbers order(static_cast<std::size_t>(to.rank(a.key)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.end()[-1], order.end()[-2]);
  const int scaled = to.node("Mul", {q, number(to, a.scale)});
  int scores = to.node("MatMul", {scaled, to.node("Transpose", {k}, {{"perm", order}})});
  const int bias = bias_of(a);
  // A query that sees no key gets zeros. Without a mask, every query sees a key.
  int closed = graph::absent;
  if (a.mask != graph::absent) {
    closed =
        to.node("Equal", {to.node("ReduceMax", {bias, to.numbers({-1})}, {{"keepdims", 1}}), number(to, -infinity)});
    scores = to.node("Add", {scores, to.node("Where", {closed, number(to, 0), bias})});
  } else if (bias != graph::absent) {
    scores = to.node("Add", {scores, bias});
  }
  int weights = to.node("Softmax", {scores}, {{"axis", -1}});
  if (closed != graph::absent) weights = to.node("Where", {closed, number(to, 0), weights});
  return to.cast(to.node("MatMul", {weights, v}), DType::f32, a.dtype());
}

}  // namespace

std::vector<int> lower_attention(Lowering& to, const Node& node) {
  const auto is_set = [&](const char* name) { return std::get<std::int64_t>(node.attributes.at(name)) != 0; };
  const Attention a{to,
                    node.inputs[0],
                    node.inputs[1],
                    node.inputs[2],
                    node.inputs[3],
                    std::get<double>(node.attributes.at("scale")),
                    is_set("is_causal"),
                    is_set("enable_gqa")};
  return {has_op(a) ? as_op(a) : as_products(a)};
}

}  // namespace crisol::onnx
