// Joining, padding, picking, sorting and drawing for C.
#include "crisol/functions/arrange.h"
#include "c_api/handles.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/sampling.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_cat(int count, const crisol_tensor* const* tensors, int axis, crisol_tensor** result) {
  return give(result, "cat", [&] { return cat(tensors_of(tensors, count, "cat", "tensors"), axis); });
}

crisol_status crisol_stack(int count, const crisol_tensor* const* tensors, int axis, crisol_tensor** result) {
  return give(result, "stack", [&] { return stack(tensors_of(tensors, count, "stack", "tensors"), axis); });
}

crisol_status crisol_pad(const crisol_tensor* x, const int64_t* before, const int64_t* after, double value,
                         crisol_tensor** result) {
  return give_from(x, result, "pad", [&](const Tensor& t) {
    const Shape first = shape_of(before, t.dim(), "pad", "before"), last = shape_of(after, t.dim(), "pad", "after");
    std::vector<AxisPadding> paddings;  // The caller gives the axes from the last one to the first one.
    for (int axis = t.dim() - 1; axis >= 0; --axis) paddings.push_back({first[axis], last[axis]});
    return pad(t, paddings, value);
  });
}

crisol_status crisol_flip(const crisol_tensor* x, int axis_count, const int64_t* axes, crisol_tensor** result) {
  return give_from(x, result, "flip",
                   [&](const Tensor& t) { return flip(t, shape_of(axes, axis_count, "flip", "axes")); });
}

crisol_status crisol_roll(const crisol_tensor* x, int shift_count, const int64_t* shifts, int axis_count,
                          const int64_t* axes, crisol_tensor** result) {
  return give_from(x, result, "roll", [&](const Tensor& t) {
    return roll(t, shape_of(shifts, shift_count, "roll", "shifts"), shape_of(axes, axis_count, "roll", "axes"));
  });
}

crisol_status crisol_repeat(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result) {
  return give_from(x, result, "repeat",
                   [&](const Tensor& t) { return repeat(t, shape_of(counts, rank, "repeat", "counts")); });
}

crisol_status crisol_tile(const crisol_tensor* x, int rank, const int64_t* counts, crisol_tensor** result) {
  return give_from(x, result, "tile",
                   [&](const Tensor& t) { return tile(t, shape_of(counts, rank, "tile", "counts")); });
}

crisol_status crisol_isclose(const crisol_tensor* a, const crisol_tensor* b, double rtol, double atol, int equal_nan,
                             crisol_tensor** result) {
  constexpr const char* op = "isclose";
  return give(result, op,
              [&] { return isclose(tensor_of(a, op, "a"), tensor_of(b, op, "b"), rtol, atol, equal_nan != 0); });
}

crisol_status crisol_allclose(const crisol_tensor* a, const crisol_tensor* b, double rtol, double atol, int equal_nan,
                              int* close) {
  constexpr const char* op = "allclose";
  return guarded([&] {
    need(close, op, "close") =
        allclose(tensor_of(a, op, "a"), tensor_of(b, op, "b"), rtol, atol, equal_nan != 0) ? 1 : 0;
  });
}

crisol_status crisol_tril(const crisol_tensor* x, int64_t diagonal, crisol_tensor** result) {
  return give_from(x, result, "tril", [&](const Tensor& t) { return tril(t, diagonal); });
}

crisol_status crisol_triu(const crisol_tensor* x, int64_t diagonal, crisol_tensor** result) {
  return give_from(x, result, "triu", [&](const Tensor& t) { return triu(t, diagonal); });
}

crisol_status crisol_gather(const crisol_tensor* x, int axis, const crisol_tensor* index, crisol_tensor** result) {
  return give_from(x, result, "gather",
                   [&](const Tensor& t) { return gather(t, axis, tensor_of(index, "gather", "index")); });
}

crisol_status crisol_index_select(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                  crisol_tensor** result) {
  return give_from(x, result, "index_select",
                   [&](const Tensor& t) { return index_select(t, axis, tensor_of(index, "index_select", "index")); });
}

crisol_status crisol_scatter_add(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                 const crisol_tensor* source, crisol_tensor** result) {
  constexpr const char* op = "scatter_add";
  return give_from(x, result, op, [&](const Tensor& t) {
    return scatter_add(t, axis, tensor_of(index, op, "index"), tensor_of(source, op, "source"));
  });
}

crisol_status crisol_index_add(const crisol_tensor* x, int axis, const crisol_tensor* index,
                               const crisol_tensor* source, crisol_tensor** result) {
  constexpr const char* op = "index_add";
  return give_from(x, result, op, [&](const Tensor& t) {
    return index_add(t, axis, tensor_of(index, op, "index"), tensor_of(source, op, "source"));
  });
}

crisol_status crisol_embedding(const crisol_tensor* weight, const crisol_tensor* indices, int64_t padding_idx,
                               crisol_tensor** result) {
  constexpr const char* op = "embedding";
  return give(result, op, [&] {
    return embedding(tensor_of(weight, op, "weight"), tensor_of(indices, op, "indices"),
                     padding_idx < 0 ? std::nullopt : std::optional<std::int64_t>(padding_idx));
  });
}

crisol_status crisol_one_hot(const crisol_tensor* indices, int64_t classes, crisol_dtype dtype,
                             crisol_tensor** result) {
  constexpr const char* op = "one_hot";
  return give(result, op, [&] { return one_hot(tensor_of(indices, op, "indices"), classes, dtype_of(dtype, op)); });
}

crisol_status crisol_sort(const crisol_tensor* x, int axis, int descending, crisol_tensor** values,
                          crisol_tensor** indices) {
  return guarded([&] {
    const SortResult sorted = sort(tensor_of(x, "sort", "x"), axis, descending != 0);
    give_both(values, sorted.values, indices, sorted.indices);
  });
}

crisol_status crisol_topk(const crisol_tensor* x, int64_t k, int axis, int largest, crisol_tensor** values,
                          crisol_tensor** indices) {
  return guarded([&] {
    const SortResult best = topk(tensor_of(x, "topk", "x"), k, axis, largest != 0);
    give_both(values, best.values, indices, best.indices);
  });
}

crisol_status crisol_multinomial(const crisol_tensor* weights, int64_t draws, int replacement, crisol_tensor** result) {
  return give(result, "multinomial",
              [&] { return multinomial(tensor_of(weights, "multinomial", "weights"), draws, replacement != 0); });
}

crisol_status crisol_sample_logits(const crisol_tensor* logits, double temperature, int64_t top_k,
                                   crisol_tensor** result) {
  return give(result, "sample_logits",
              [&] { return sample_logits(tensor_of(logits, "sample_logits", "logits"), temperature, top_k); });
}
