// Writing by index, picking by content, and products of tensors by an equation, for C.
#include "crisol/functions/select.h"
#include "c_api/handles.h"
#include "crisol/functions/bitwise.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/index.h"
#include "crisol/functions/linalg.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// The reduction with this name. Null means no reduction.
std::optional<ScatterReduction> reduction_of(const char* name, const char* op) {
  struct Row {
    const char* name;
    ScatterReduction reduction;
  };
  constexpr Row rows[] = {{"sum", ScatterReduction::sum},
                          {"prod", ScatterReduction::prod},
                          {"amax", ScatterReduction::amax},
                          {"amin", ScatterReduction::amin}};
  if (name == nullptr) return std::nullopt;
  return row_named(rows, name, op, "reduction").reduction;
}

}  // namespace

crisol_status crisol_scatter(const crisol_tensor* x, int axis, const crisol_tensor* index, const crisol_tensor* source,
                             const char* reduction, crisol_tensor** result) {
  constexpr const char* op = "scatter";
  return give_from(x, result, op, [&](const Tensor& t) {
    const Tensor &at = tensor_of(index, op, "index"), &src = tensor_of(source, op, "source");
    const auto how = reduction_of(reduction, op);
    return how ? scatter_reduce(t, axis, at, src, *how) : scatter(t, axis, at, src);
  });
}

crisol_status crisol_index_copy(const crisol_tensor* x, int axis, const crisol_tensor* index,
                                const crisol_tensor* source, const char* reduction, crisol_tensor** result) {
  constexpr const char* op = "index_copy";
  return give_from(x, result, op, [&](const Tensor& t) {
    const Tensor &at = tensor_of(index, op, "index"), &src = tensor_of(source, op, "source");
    const auto how = reduction_of(reduction, op);
    return how ? index_reduce(t, axis, at, src, *how) : index_copy(t, axis, at, src);
  });
}

crisol_status crisol_gather_nd(const crisol_tensor* x, const crisol_tensor* index, int batch_axes,
                               crisol_tensor** result) {
  return give_from(x, result, "gather_nd",
                   [&](const Tensor& t) { return gather_nd(t, tensor_of(index, "gather_nd", "index"), batch_axes); });
}

crisol_status crisol_scatter_nd(const crisol_tensor* x, const crisol_tensor* index, const crisol_tensor* source,
                                const char* reduction, crisol_tensor** result) {
  constexpr const char* op = "scatter_nd";
  return give_from(x, result, op, [&](const Tensor& t) {
    return scatter_nd(t, tensor_of(index, op, "index"), tensor_of(source, op, "source"), reduction_of(reduction, op));
  });
}

crisol_status crisol_nonzero(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "nonzero", [](const Tensor& t) { return nonzero(t); });
}

crisol_status crisol_masked_select(const crisol_tensor* x, const crisol_tensor* mask, crisol_tensor** result) {
  constexpr const char* op = "masked_select";
  return give_from(x, result, op, [&](const Tensor& t) { return masked_select(t, tensor_of(mask, op, "mask")); });
}

crisol_status crisol_unique(const crisol_tensor* x, int sorted, const int* axis, crisol_tensor** values,
                            crisol_tensor** indices, crisol_tensor** inverse, crisol_tensor** counts) {
  return guarded([&] {
    UniqueOptions options{.sorted = sorted != 0};
    if (axis != nullptr) options.axis = *axis;
    const UniqueResult found = unique(tensor_of(x, "unique", "x"), options);
    give_both(values, found.values, indices, found.indices);
    give_both(inverse, found.inverse, counts, found.counts);
  });
}

crisol_status crisol_bit_cast(const crisol_tensor* x, crisol_dtype dtype, crisol_tensor** result) {
  return give_from(x, result, "bit_cast", [&](const Tensor& t) { return bit_cast(t, dtype_of(dtype, "bit_cast")); });
}

crisol_status crisol_einsum(const char* equation, int count, const crisol_tensor* const* operands,
                            crisol_tensor** result) {
  return give(result, "einsum", [&] {
    return einsum(&need(equation, "einsum", "equation"), tensors_of(operands, count, "einsum", "operands"));
  });
}

crisol_status crisol_det(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "det", [](const Tensor& t) { return det(t); });
}
