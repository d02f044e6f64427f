// Reading and writing at the positions of tensors, order, products of vectors, and systems of equations, for C.
#include "c_api/handles.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/select.h"
#include "crisol/functions/sort.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

std::optional<int> optional_axis(const int* axis) { return axis == nullptr ? std::nullopt : std::optional<int>(*axis); }

/// The tensors of the handles. Null gives an undefined tensor.
std::vector<Tensor> indices_of(const crisol_tensor* const* indices, int count, const char* op) {
  require(count >= 0 && (count == 0 || indices != nullptr), op, "indices is null, or their count ", count,
          " is negative");
  std::vector<Tensor> all;
  for (int i = 0; i < count; ++i) all.push_back(optional_tensor(indices[i]));
  return all;
}

}  // namespace

crisol_status crisol_nextafter(const crisol_operand* a, const crisol_operand* b, crisol_tensor** result) {
  constexpr const char* op = "nextafter";
  return give(result, op, [&] {
    const crisol_operand &from = need(a, op, "a"), &to = need(b, op, "b");
    require(from.tensor != nullptr || to.tensor != nullptr, op, "both operands are numbers; one must be a tensor");
    return nextafter(operand_of(from), operand_of(to));
  });
}

crisol_status crisol_take_along_axis(const crisol_tensor* x, const crisol_tensor* index, int axis,
                                     crisol_tensor** result) {
  constexpr const char* op = "take_along_axis";
  return give_from(x, result, op,
                   [&](const Tensor& t) { return take_along_axis(t, tensor_of(index, op, "index"), axis); });
}

crisol_status crisol_take(const crisol_tensor* x, const crisol_tensor* index, const int* axis, crisol_tensor** result) {
  return give_from(x, result, "take",
                   [&](const Tensor& t) { return take(t, tensor_of(index, "take", "index"), optional_axis(axis)); });
}

crisol_status crisol_index_get(const crisol_tensor* x, int count, const crisol_tensor* const* indices,
                               crisol_tensor** result) {
  return give_from(x, result, "index_get",
                   [&](const Tensor& t) { return index_get(t, indices_of(indices, count, "index_get")); });
}

crisol_status crisol_index_put(const crisol_tensor* x, int count, const crisol_tensor* const* indices,
                               const crisol_operand* value, int accumulate, crisol_tensor** result) {
  constexpr const char* op = "index_put";
  return give_from(x, result, op, [&](const Tensor& t) {
    return index_put(t, indices_of(indices, count, op), operand_of(need(value, op, "value")), accumulate != 0);
  });
}

crisol_status crisol_index_put_in_place(crisol_tensor* x, int count, const crisol_tensor* const* indices,
                                        const crisol_operand* value, int accumulate) {
  constexpr const char* op = "index_put_";
  return guarded([&] {
    need(x, op, "x")
        .value.index_put_(indices_of(indices, count, op), operand_of(need(value, op, "value")), accumulate != 0);
  });
}

crisol_status crisol_searchsorted(const crisol_tensor* sorted, const crisol_tensor* values, int right,
                                  const crisol_tensor* sorter, crisol_tensor** result) {
  constexpr const char* op = "searchsorted";
  return give(result, op, [&] {
    return searchsorted(tensor_of(sorted, op, "sorted"), tensor_of(values, op, "values"), right != 0,
                        optional_tensor(sorter));
  });
}

crisol_status crisol_isin(const crisol_tensor* x, const crisol_tensor* values, int invert, crisol_tensor** result) {
  return give_from(x, result, "isin",
                   [&](const Tensor& t) { return isin(t, tensor_of(values, "isin", "values"), invert != 0); });
}

crisol_status crisol_diff(const crisol_tensor* x, int64_t n, int axis, const crisol_tensor* prepend,
                          const crisol_tensor* append, crisol_tensor** result) {
  return give_from(x, result, "diff", [&](const Tensor& t) {
    return diff(t, n, axis, optional_tensor(prepend), optional_tensor(append));
  });
}

crisol_status crisol_repeat_interleave(const crisol_tensor* x, const crisol_tensor* counts, const int* axis,
                                       crisol_tensor** result) {
  constexpr const char* op = "repeat_interleave";
  return give_from(x, result, op, [&](const Tensor& t) {
    return repeat_interleave(t, tensor_of(counts, op, "counts"), optional_axis(axis));
  });
}

crisol_status crisol_diagonal(const crisol_tensor* x, int64_t offset, int axis_a, int axis_b, crisol_tensor** result) {
  return give_from(x, result, "diagonal", [&](const Tensor& t) { return diagonal(t, offset, axis_a, axis_b); });
}

crisol_status crisol_tensordot(const crisol_tensor* a, const crisol_tensor* b, int count, const int64_t* a_axes,
                               const int64_t* b_axes, crisol_tensor** result) {
  constexpr const char* op = "tensordot";
  return give(result, op, [&] {
    return tensordot(tensor_of(a, op, "a"), tensor_of(b, op, "b"), shape_of(a_axes, count, op, "a_axes"),
                     shape_of(b_axes, count, op, "b_axes"));
  });
}

crisol_status crisol_cross(const crisol_tensor* a, const crisol_tensor* b, int axis, crisol_tensor** result) {
  return give(result, "cross", [&] { return cross(tensor_of(a, "cross", "a"), tensor_of(b, "cross", "b"), axis); });
}

crisol_status crisol_slogdet(const crisol_tensor* x, crisol_tensor** sign, crisol_tensor** logabsdet) {
  return guarded([&] {
    const SlogdetResult found = slogdet(tensor_of(x, "slogdet", "x"));
    give_both(sign, found.sign, logabsdet, found.logabsdet);
  });
}

crisol_status crisol_solve(const crisol_tensor* a, const crisol_tensor* b, crisol_tensor** result) {
  return give_from(a, result, "solve", [&](const Tensor& t) { return solve(t, tensor_of(b, "solve", "b")); });
}

crisol_status crisol_inv(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "inv", [](const Tensor& t) { return inv(t); });
}

crisol_status crisol_cholesky(const crisol_tensor* x, int upper, crisol_tensor** result) {
  return give_from(x, result, "cholesky", [&](const Tensor& t) { return cholesky(t, upper != 0); });
}

crisol_status crisol_qr(const crisol_tensor* x, int complete, crisol_tensor** q, crisol_tensor** r) {
  return guarded([&] {
    const QrResult found = qr(tensor_of(x, "qr", "x"), complete != 0);
    give_both(q, found.q, r, found.r);
  });
}

crisol_status crisol_eigh(const crisol_tensor* x, crisol_tensor** eigenvalues, crisol_tensor** eigenvectors) {
  return guarded([&] {
    const EighResult found = eigh(tensor_of(x, "eigh", "x"));
    give_both(eigenvalues, found.eigenvalues, eigenvectors, found.eigenvectors);
  });
}

crisol_status crisol_eigvalsh(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "eigvalsh", [](const Tensor& t) { return eigvalsh(t); });
}

crisol_status crisol_svd(const crisol_tensor* x, int full_matrices, crisol_tensor** u, crisol_tensor** s,
                         crisol_tensor** vh) {
  return guarded([&] {
    const SvdResult found = svd(tensor_of(x, "svd", "x"), full_matrices != 0);
    std::unique_ptr<crisol_tensor> last(vh == nullptr ? nullptr : new crisol_tensor{found.vh});
    give_both(u, found.u, s, found.s);
    if (vh != nullptr) *vh = last.release();
  });
}

crisol_status crisol_svdvals(const crisol_tensor* x, crisol_tensor** result) {
  return give_from(x, result, "svdvals", [](const Tensor& t) { return svdvals(t); });
}

crisol_status crisol_pinv(const crisol_tensor* x, const crisol_tensor* rtol, crisol_tensor** result) {
  return give_from(x, result, "pinv", [&](const Tensor& t) { return pinv(t, optional_tensor(rtol)); });
}

crisol_status crisol_matrix_rank(const crisol_tensor* x, const crisol_tensor* rtol, crisol_tensor** result) {
  return give_from(x, result, "matrix_rank", [&](const Tensor& t) { return matrix_rank(t, optional_tensor(rtol)); });
}

crisol_status crisol_matrix_norm(const crisol_tensor* x, const char* name, double ord, int keepdim,
                                 crisol_tensor** result) {
  return give_from(x, result, "matrix_norm", [&](const Tensor& t) {
    return name != nullptr ? matrix_norm(t, name, keepdim != 0) : matrix_norm(t, ord, keepdim != 0);
  });
}

crisol_status crisol_matrix_power(const crisol_tensor* x, int64_t n, crisol_tensor** result) {
  return give_from(x, result, "matrix_power", [&](const Tensor& t) { return matrix_power(t, n); });
}
