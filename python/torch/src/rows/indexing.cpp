// Reading and writing by positions, sorting, and searching.
#include <cmath>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/index.h"
#include "crisol/functions/select.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::ScatterReduction;
using crisol::Shape;
using crisol::Tensor;

// The positions of x[a, :, b]: an undefined tensor takes a whole axis. PyTorch also takes positions on the CPU.
std::vector<Tensor> positions(const Call& c, std::size_t i, const at::Tensor& x) {
  std::vector<Tensor> list;
  for (const c10::IValue& one : c.value(i).toListRef()) {
    const at::Tensor index = one.isNone() ? at::Tensor() : one.toTensor();
    if (!index.defined()) {
      list.emplace_back();
      continue;
    }
    Tensor at = tensor_of(index.to(x.device()));
    // PyTorch counts u8 as a mask.
    list.push_back(at.dtype() == crisol::DType::u8 ? ops::cast(at, crisol::DType::boolean) : at);
  }
  return list;
}

// A number counts as a list of one element: PyTorch permits axis 0 of it.
Tensor listed(const Tensor& x) { return x.dim() == 0 ? ops::reshape(x, {1}) : x; }
Tensor list_at(const Call& c, std::size_t i) { return listed(c.tensor(i)); }
// A row for "NAME.out" whose operands are lists.
template <class F>
Run into_list(F f) {
  return into([f](const Call& c, const Tensor& out) { f(c, listed(out)); });
}

Tensor index(const Call& c) { return crisol::index_get(c.tensor(0), positions(c, 1, c.torch(0))); }

void index_put(const Call& c, const Tensor& target) {
  Tensor x = target;
  x.index_put_(positions(c, 1, c.torch(0)), c.operand(2), c.flag(3));
}

// One number in the shape of the index.
Tensor filled_like(const Tensor& index, const crisol::Scalar& number, crisol::DType dtype) {
  return ops::expand(crisol::full({}, number, dtype, index.device()), index.shape());
}

ScatterReduction reduction(const std::string& name) {
  if (name == "sum" || name == "add" || name == "mean") return ScatterReduction::sum;
  if (name == "prod" || name == "multiply") return ScatterReduction::prod;
  if (name == "amax") return ScatterReduction::amax;
  need(name == "amin", "an unknown reduction of scattered elements");
  return ScatterReduction::amin;
}

// The number that changes no result of a reduction.
crisol::Scalar neutral(ScatterReduction r, crisol::DType type) {
  if (r == ScatterReduction::sum) return 0;
  if (r == ScatterReduction::prod) return 1;
  const bool largest = r == ScatterReduction::amax;
  if (crisol::is_floating(type)) return largest ? -INFINITY : INFINITY;
  const int digits = crisol::dtype_row(type).digits;
  need(digits < 64, "u64");
  const std::int64_t top = static_cast<std::int64_t>((std::uint64_t{1} << digits) - 1);
  const bool has_sign = crisol::kind_of(type) == crisol::DTypeKind::integer;
  return !largest ? top : has_sign ? -top - 1 : std::int64_t{0};
}

// (x, axis, index, source, name, whether x takes part, out)
void scatter_reduce(const Call& c, const Tensor& out) {
  const std::string name = c.value(4).toStringRef();
  const Tensor x = list_at(c, 0), index = list_at(c, 2), source = list_at(c, 3);
  const int axis = c.axis(1);
  const ScatterReduction r = reduction(name);
  const auto without = [&](const Tensor& old, const crisol::Scalar& number) {
    return c.flag(5) ? old : ops::scatter(old, axis, index, filled_like(index, number, old.dtype()));
  };
  if (name != "mean") {
    ops::scatter_reduce_into(out, without(x, neutral(r, x.dtype())), axis, index, source, r);
    return;
  }
  const Tensor total = ops::scatter_add(without(x, 0), axis, index, source);
  const Tensor ones = filled_like(index, 1, crisol::DType::i64);
  const Tensor old = without(crisol::ones(x.shape(), crisol::DType::i64, x.device()), 0);
  const Tensor count = ops::cast(ops::maximum(ops::scatter_add(old, axis, index, ones), crisol::Scalar(1)), x.dtype());
  ops::copy_into(out, crisol::is_floating(x.dtype()) ? ops::div(total, count) : ops::floor_divide(total, count));
}

// (x, axis, index, source, alpha, out)
void index_add(const Call& c, const Tensor& out) {
  Tensor source = list_at(c, 3);
  if (c.number(4) != 1) source = ops::mul(source, c.scalar(4));
  ops::index_add_into(out, list_at(c, 0), c.axis(1), list_at(c, 2), source);
}

// (x, axis, index, number). Negative positions count from the end.
void index_fill(const Call& c, const Tensor& target) {
  Tensor x = listed(target);
  const int axis = c.axis(1);
  std::vector<Tensor> places(static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis));
  places.push_back(list_at(c, 2));
  x.index_put_(places, c.operand(3));
}

// NAME(x, axis, index) with an index of one axis.
Tensor index_select(const Call& c) {
  const Tensor y = ops::index_select(list_at(c, 0), c.axis(1), list_at(c, 2));
  return c.tensor(0).dim() == 0 ? ops::reshape(y, {}) : y;
}

// (x, index): elements of x as a list. Negative positions count from the end.
Tensor take(const Call& c) {
  const Tensor index = c.tensor(1);
  need(index.dtype() == crisol::DType::i64, "positions of another type");
  const Tensor list = crisol::index_get(ops::reshape(c.tensor(0), {-1}), {ops::reshape(index, {-1})});
  return ops::reshape(list, index.shape());
}

// (x, mask, source): the elements of x under the mask become the first elements of the source, in their order.
void masked_scatter(const Call& c, const Tensor& x) {
  const Tensor source = ops::reshape(c.tensor(2), {-1});
  need(c.tensor(1).dtype() == crisol::DType::boolean && source.dtype() == x.dtype() && source.numel() > 0,
       "the types of masked_scatter");
  const Tensor mask = ops::contiguous(ops::expand(c.tensor(1), x.shape()));
  const Tensor number = ops::cumsum(ops::cast(ops::reshape(mask, {-1}), crisol::DType::i64), 0);
  const Tensor place = ops::maximum(ops::sub(number, crisol::Scalar(1)), crisol::Scalar(0));
  ops::where_into(x, mask, ops::reshape(ops::index_select(source, 0, place), x.shape()), x);
}

// (table, indices, largest norm, p): rows that the indices name get at most this norm.
void renormed(const Call& c, const Tensor& table) {
  const Tensor indices = ops::reshape(c.tensor(1), {-1});
  const double largest = c.number(2);
  need(table.dim() == 2, "a table without rows");
  if (indices.numel() == 0) return;
  const Tensor rows = ops::index_select(table, 0, indices), norms = ops::norm(rows, c.number(3), {1}, true);
  const Tensor factor = ops::where(ops::gt(norms, largest), ops::div(largest, ops::add(norms, 1e-7)), 1.0);
  ops::index_copy_into(table, table, 0, indices, ops::mul(rows, factor));
}

// The places of values among sorted lists, one list for each row of values.
Tensor search_lists(const Tensor& sorted, const Tensor& values, bool right) {
  if (sorted.dim() == 1) return ops::searchsorted(sorted, values, right);
  need(values.dim() == sorted.dim() && sorted.numel() * values.size(-1) <= std::int64_t{1} << 24, "long sorted lists");
  // Each value is compared with each element of its list. NaN is the largest value.
  const Tensor lists = ops::unsqueeze(sorted, -2), value = ops::unsqueeze(values, -1);
  const Tensor before = right ? ops::logical_not(ops::gt(lists, value)) : ops::logical_not(ops::ge(lists, value));
  return ops::sum(ops::cast(before, crisol::DType::i64), {-1});
}

}  // namespace

Rows index_rows() {
  return {
      {"index.Tensor", gives(index)},
      {"_index_put_impl_", in_place(index_put)},
      {"index_select", gives(index_select)},
      {"index_select.out",
       into_list([](const Call& c, const Tensor& out) { ops::copy_into(out, listed(index_select(c))); })},
      {"index_add.out", into_list(index_add)},
      {"index_copy.out", into_list([](const Call& c, const Tensor& out) {
         ops::index_copy_into(out, list_at(c, 0), c.axis(1), list_at(c, 2), list_at(c, 3));
       })},
      {"index_fill_.int_Scalar", in_place(index_fill)},
      {"index_fill_.int_Tensor", in_place(index_fill)},
      {"gather.out", into_list([](const Call& c, const Tensor& out) {
         ops::gather_into(out, list_at(c, 0), c.axis(1), list_at(c, 2));
       })},
      {"scatter.src_out", into_list([](const Call& c, const Tensor& out) {
         ops::scatter_into(out, list_at(c, 0), c.axis(1), list_at(c, 2), list_at(c, 3));
       })},
      {"scatter.value_out", into_list([](const Call& c, const Tensor& out) {
         const Tensor index = list_at(c, 2);
         ops::scatter_into(out, list_at(c, 0), c.axis(1), index, filled_like(index, c.scalar(3), out.dtype()));
       })},
      {"scatter.reduce_out", into_list([](const Call& c, const Tensor& out) {
         ops::scatter_reduce_into(out, list_at(c, 0), c.axis(1), list_at(c, 2), list_at(c, 3),
                                  reduction(c.value(4).toStringRef()));
       })},
      {"scatter.value_reduce_out", into_list([](const Call& c, const Tensor& out) {
         const Tensor index = list_at(c, 2);
         ops::scatter_reduce_into(out, list_at(c, 0), c.axis(1), index, filled_like(index, c.scalar(3), out.dtype()),
                                  reduction(c.value(4).toStringRef()));
       })},
      {"scatter_add.out", into_list([](const Call& c, const Tensor& out) {
         ops::scatter_add_into(out, list_at(c, 0), c.axis(1), list_at(c, 2), list_at(c, 3));
       })},
      {"scatter_reduce.two_out", into_list(scatter_reduce)},
      {"take", gives(take)},
      {"masked_scatter_", in_place(masked_scatter)},
      {"embedding_renorm_", in_place(renormed)},
      {"masked_select", gives([](const Call& c) { return crisol::masked_select(c.tensor(0), c.tensor(1)); })},
      {"nonzero", gives([](const Call& c) { return ops::nonzero(c.tensor(0)); })},
      {"sort.values_stable",
       [](const Call& c) {
         ops::sort_into(c.tensor(4), c.tensor(5), c.tensor(0), c.axis(2), c.flag(3));
         return Results{c.value(4), c.value(5)};
       }},
      {"topk.values",
       [](const Call& c) {
         ops::topk_into(c.tensor(5), c.tensor(6), c.tensor(0), c.whole(1), c.axis(2), c.flag(3));
         return Results{c.value(5), c.value(6)};
       }},
      {"searchsorted.Tensor", gives([](const Call& c) {
         const bool right = c.flag(3) || (!c.is_none(4) && c.value(4).toStringRef() == "right");
         need(!c.flag(2) && c.is_none(5), "searchsorted with i32 or a sorter");
         return search_lists(c.tensor(0), c.tensor(1), right);
       })},
      {"bucketize.Tensor", gives([](const Call& c) {
         need(!c.flag(2), "bucketize with i32");
         return ops::searchsorted(c.tensor(1), c.tensor(0), c.flag(3));
       })},
  };
}

}  // namespace crisol_torch
