// Functions that find elements and put them in order.
#include "arguments.h"
#include "bindings.h"
#include "tensor/host.h"
#include "tensor/promote.h"

namespace crisol::python {

namespace {

/// Like define(), for a function that waits.
template <class Function, class... Extra>
void define_waiting(nb::module_& m, TensorClass& tensor, const char* name, Function function, const char* text,
                    const Extra&... extra) {
  m.def(name, waiting(function), "x"_a, extra..., text);
  tensor.def(name, waiting(function), extra..., text);
}

nb::tuple nonzero_of(const Tensor& x) {
  if (x.dim() == 0) throw Error(ErrorCode::invalid_argument, "[nonzero] the tensor has rank 0, so it has no axis");
  wait_ahead(x.device());
  const std::vector<Tensor> columns = unlocked([&] {
    std::vector<Tensor> found;
    const Tensor positions = nonzero(x);
    for (int axis = 0; axis < x.dim(); ++axis) found.push_back(positions.select(1, axis));
    return found;
  });
  return nb::tuple(nb::cast(columns));
}

/// where(condition, a, b). The dtype of the result depends only on a and b.
Tensor where_of(const Tensor& condition, const Operand& a, const Operand& b) {
  const Promoted both(a, b);
  return where(condition, both.a(), both.b());
}

Tensor sort_values(const Tensor& x, int axis, bool descending, bool) { return sort(x, axis, descending).values; }
Tensor sort_positions(const Tensor& x, int axis, bool descending, bool) { return argsort(x, axis, descending); }

using Pair = std::pair<Tensor, Tensor>;

template <class Result>
Pair pair_of(const Result& result) {
  return {result.values, result.indices};
}

Pair sort_both(const Tensor& x, int axis, bool descending) { return pair_of(sort(x, axis, descending)); }
Pair top(const Tensor& x, std::int64_t k, int axis, bool largest) { return pair_of(topk(x, k, axis, largest)); }
Pair max_both(const Tensor& x, int axis, bool keepdims) { return pair_of(max_with_indices(x, axis, keepdims)); }
Pair min_both(const Tensor& x, int axis, bool keepdims) { return pair_of(min_with_indices(x, axis, keepdims)); }

/// Returns values, indices, inverse and counts. If no axis is given, inverse has the shape of x.
std::tuple<Tensor, Tensor, Tensor, Tensor> unique_of(const Tensor& x, bool sorted, std::optional<int> axis) {
  const UniqueResult found = unique(x, {sorted, axis});
  return {found.values, found.indices, axis ? found.inverse : found.inverse.reshape(x.shape()), found.counts};
}

void bind_order(nb::module_& m, TensorClass& tensor) {
  define(m, tensor, "sort", &sort_values,
         "The elements along an axis from small to large, or with `descending` from large to small. NaN counts as "
         "largest. Equal elements keep their order, so `stable` changes nothing.",
         "axis"_a = -1, "descending"_a = false, "stable"_a = true);
  define(m, tensor, "argsort", &sort_positions, "The positions (int64) that sort the elements along an axis.",
         "axis"_a = -1, "descending"_a = false, "stable"_a = true);
  define(m, tensor, "sort_with_indices", &sort_both, "sort() and argsort(), as a pair.", "axis"_a = -1,
         "descending"_a = false);
  define(m, tensor, "topk", &top, "The k largest (or smallest) elements along an axis and their positions, as a pair.",
         "k"_a, "axis"_a = -1, "largest"_a = true);
  define(m, tensor, "max_with_indices", &max_both, "The largest elements along an axis and their positions.", "axis"_a,
         "keepdims"_a = false);
  define(m, tensor, "min_with_indices", &min_both, "The smallest elements along an axis and their positions.", "axis"_a,
         "keepdims"_a = false);
}

Tensor take_of(const Tensor& x, const Tensor& indices, std::optional<int> axis) {
  if (!axis && x.dim() != 1)
    throw Error(ErrorCode::invalid_argument,
                "[take] axis must be given for a tensor of rank " + std::to_string(x.dim()));
  return take(x, indices, axis.value_or(0));
}

Tensor searchsorted_of(const Tensor& x1, const Tensor& x2, const std::string& side,
                       const std::optional<Tensor>& sorter) {
  if (side != "left" && side != "right")
    throw Error(ErrorCode::invalid_argument, "[searchsorted] side is '" + side + "', allowed are 'left' and 'right'");
  return searchsorted(x1, x2, side == "right", or_undefined(sorter));
}

void bind_places(nb::module_& m) {
  m.def("take", &take_of, "x"_a, "indices"_a, nb::kw_only(), "axis"_a = nb::none(), Unlocked(),
        "The slices of x at positions along an axis. Negative positions count from the end.");
  m.def("take_along_axis", &take_along_axis, "x"_a, "indices"_a, nb::kw_only(), "axis"_a = -1, Unlocked(),
        "y[i, j, k] = x[i, indices[i, j, k], k] for axis 1 of rank 3. The other axes broadcast.");
  m.def("searchsorted", &searchsorted_of, "x1"_a, "x2"_a, nb::kw_only(), "side"_a = "left", "sorter"_a = nb::none(),
        Unlocked(),
        "For each value of x2 the number (int64) of elements of the sorted x1 (n) below it, or with side='right' not "
        "above it.");
  m.def("isin", &isin, "x1"_a, "x2"_a, nb::kw_only(), "invert"_a = false, Unlocked(),
        "Whether each element of x1 is one of x2, as bool.");
}

ScatterReduction reduction_of(const std::string& name) {
  constexpr std::pair<const char*, ScatterReduction> known[]{{"sum", ScatterReduction::sum},
                                                             {"prod", ScatterReduction::prod},
                                                             {"amax", ScatterReduction::amax},
                                                             {"amin", ScatterReduction::amin}};
  for (const auto& [its_name, reduction] : known)
    if (name == its_name) return reduction;
  throw Error(ErrorCode::invalid_argument,
              "[scatter] reduce is '" + name + "', allowed are 'sum', 'prod', 'amax' and 'amin'");
}

Tensor scatter_reduce_of(const Tensor& x, int axis, const Tensor& index, const Tensor& src, const std::string& reduce) {
  return scatter_reduce(x, axis, index, src, reduction_of(reduce));
}

Tensor index_reduce_of(const Tensor& x, int axis, const Tensor& index, const Tensor& src, const std::string& reduce) {
  return index_reduce(x, axis, index, src, reduction_of(reduce));
}

Tensor scatter_nd_of(const Tensor& x, const Tensor& index, const Tensor& src,
                     const std::optional<std::string>& reduce) {
  return scatter_nd(x, index, src, reduce ? std::optional(reduction_of(*reduce)) : std::nullopt);
}

/// x with values at the positions of a tensor for each axis; None takes all of an axis.
Tensor index_put_of(const Tensor& x, const std::vector<std::optional<Tensor>>& indices, const Operand& value,
                    bool accumulate) {
  std::vector<Tensor> positions;
  for (const std::optional<Tensor>& index : indices) positions.push_back(or_undefined(index));
  return index_put(x, positions, value, accumulate);
}

}  // namespace

void bind_select(nb::module_& m, TensorClass& tensor) {
  bind_order(m, tensor);
  bind_places(m);
  m.def("nonzero", &nonzero_of, "x"_a,
        "The positions of the elements that are not 0: a tensor (int64) for each axis. Waits.");
  tensor.def("nonzero", &nonzero_of, "The positions of the elements that are not 0: a tensor for each axis. Waits.");
  m.def("_index_put", &index_put_of, "x"_a, "indices"_a, "value"_a, "accumulate"_a, Unlocked());
  m.def("where", &where_of, "condition"_a, "x1"_a, "x2"_a, Unlocked(), "x1 where condition is not 0, else x2.");
  m.def("unique", waiting(&unique_of), "x"_a, "sorted"_a = true, "axis"_a = nb::none(),
        "The different values of x, and for each the position of its first element, for each element of x the position "
        "of its value, and for each value how many elements have it: (values, indices, inverse, counts). Waits.");
  define_waiting(m, tensor, "masked_select", &masked_select, "The elements for which mask is true, as one line. Waits.",
                 "mask"_a);
  define(m, tensor, "gather", static_cast<Tensor (*)(const Tensor&, int, const Tensor&)>(&gather),
         "y[i, j, k] = x[i, index[i, j, k], k] for axis 1 of rank 3.", "axis"_a, "index"_a);
  define(m, tensor, "index_select", &index_select, "The slices index[0], index[1], … of x along an axis.", "axis"_a,
         "index"_a);
  define(m, tensor, "scatter", &scatter, "A copy of x in which y[i, index[i, j, k], k] = src[i, j, k] for axis 1.",
         "axis"_a, "index"_a, "src"_a);
  define(m, tensor, "scatter_add", &scatter_add, "A copy of x with y[i, index[i, j, k], k] += src[i, j, k] for axis 1.",
         "axis"_a, "index"_a, "src"_a);
  define(m, tensor, "index_add", &index_add, "A copy of x with slice j of src added to slice index[j] along the axis.",
         "axis"_a, "index"_a, "src"_a);
  define(m, tensor, "scatter_reduce", &scatter_reduce_of,
         "scatter_add() with another way to combine the elements for one place and the old value: reduce is \"sum\", "
         "\"prod\", \"amax\" or \"amin\". Only a sum has gradients.",
         "axis"_a, "index"_a, "src"_a, "reduce"_a);
  define(m, tensor, "index_reduce", &index_reduce_of,
         "index_add() with another way to combine the slices for one place and the old slice, as in scatter_reduce().",
         "axis"_a, "index"_a, "src"_a, "reduce"_a);
  define(m, tensor, "scatter_nd", &scatter_nd_of,
         "A copy of x (S_1 … S_k, R…) in which y[index[i, 0], …, index[i, k-1]] = src[i] for index (I…, k) and src "
         "(I…, R…). With `reduce`, slices are combined as in scatter_reduce().",
         "index"_a, "src"_a, "reduce"_a = nb::none());
  define(m, tensor, "index_copy", &index_copy, "A copy of x in which slice j of src replaces slice index[j].", "axis"_a,
         "index"_a, "src"_a);
  define(m, tensor, "gather_nd", &gather_nd, "Slices of x by tuples of positions, which are the last axis of index.",
         "index"_a, "batch_axes"_a = 0);
  m.def("one_hot", &one_hot, "indices"_a, "num_classes"_a = -1, "dtype"_a = DType::i64, Unlocked(),
        "y[…, c] is 1 if indices[…] is c, else 0. num_classes -1 means the largest index plus one, and waits.");
}

}  // namespace crisol::python
