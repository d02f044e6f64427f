// Helpers that the ops of crisol/ops/index.h share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "crisol/dtype_table.h"
#include "crisol/tensor.h"
#include "dispatch/choose.h"
#include "ops/contiguous.h"
#include "runtime/memory/fault_flag.h"

namespace crisol::ops {

using namespace dispatch;

/// A contiguous tensor as (outer, size, inner), where `size` belongs to an axis. A scalar has one element along axis 0.
struct AxisSplit {
  std::int64_t outer = 1, size = 1, inner = 1;
};
AxisSplit split_at(const Shape& shape, int axis);

/// The OpenCL type with which elements of a dtype are moved without a conversion.
const char* type_of_element(DType dtype);

/// Throws for undefined tensors, for a wrong index dtype, and for an index on another device.
void require_index(const char* op, const Tensor& x, const Tensor& index);

/// Whether CRISOL_CHECK_INDICES is set.
bool checks_indices();

/// check_range() of crisol/functions/compare.h.
void check_range(std::string_view op, const Tensor& x, double low, double high);

/// If CRISOL_CHECK_INDICES is set: waits for the indices, and throws if an index is outside [0, size) and is not
/// `ignored`.
void check_indices(const char* op, const Tensor& index, std::int64_t size,
                   std::optional<std::int64_t> ignored = std::nullopt);

/// While it lives, kernels note wrong indices of this thread under this op's name, unless an outer scope names an op.
/// The text must live as long as the process.
class IndexScope {
 public:
  explicit IndexScope(const char* op, runtime::FaultKind kind = runtime::FaultKind::index) noexcept;
  /// The op by its fault_number. The object has no effect for 0.
  explicit IndexScope(std::int32_t number) noexcept;
  ~IndexScope();
  IndexScope(const IndexScope&) = delete;
  IndexScope& operator=(const IndexScope&) = delete;

 private:
  std::int32_t outer_;
};

/// The number with which kernels note wrong indices of the op, or of the thread's IndexScope.
std::int32_t fault_number(const char* op);

/// index_select without its checks, for an index of any rank. The axis counts from 0.
Tensor select_slices(const Tensor& x, int axis, const Contiguous& index, const Tensor* into = nullptr);

/// The value that an op gives for a missing element, as the bits of the dtype.
std::uint64_t missing_element(DType dtype);

template <class Problem>
ProblemKey key_of_indexed(const Problem& p) {
  return {{"outer", p.outer},   {"size", p.size},           {"inner", p.inner},
          {"picked", p.picked}, {"slices", p.whole_slices}, {"dtype", p.dtype}};
}

/// The common parts of gather and index_select. The operands of a plan are x, the index and the result, all contiguous,
/// and the words of the FaultFlag. Its call scalars are the value for missing elements (a ulong) and the fault_number
/// (an int).
struct GatherProblem {
  std::int64_t outer, size, inner;  ///< x as an AxisSplit.
  std::int64_t picked;              ///< The number of positions along the axis of the result.
  std::int64_t whole_slices;        ///< 1 for index_select, 0 for gather.
  std::int64_t dtype, index_dtype;  ///< The elements are moved as dtype.

  ProblemKey key() const { return key_of_indexed(*this); }
};

/// The common parts of scatter_add, index_add and the other ops that scatter. The operands of a plan are y, the index
/// and the source, all contiguous, and the words of the FaultFlag. Its call scalars are the destination that must not
/// change (a long, -1 for none) and the fault_number (an int).
struct ScatterProblem {
  std::int64_t outer, size, inner;  ///< y as an AxisSplit.
  std::int64_t picked;              ///< The number of positions along the axis of the source.
  std::int64_t whole_slices;        ///< 1 for index_add and similar ops, 0 for scatter_add and similar ops.
  std::int64_t dtype, index_dtype;
  std::int64_t reduction;  ///< The ScatterReduction, or `replaces`.
  std::int64_t source;     ///< The DType of the source, if kernels convert it to `dtype`, which is f32. Otherwise 0.

  static constexpr std::int64_t replaces = -1;

  ProblemKey key() const {
    // Ops that add and ops that replace have separate tables.
    if (reduction <= 0) return key_of_indexed(*this).with_types(source);
    const ProblemKey key{{"outer", outer},         {"size", size},   {"inner", inner},   {"picked", picked},
                         {"slices", whole_slices}, {"dtype", dtype}, {"kind", reduction}};
    return key.with_types(source);
  }
};

/// The variants of gather and scatter_add. Ops that are built on these two have separate tables.
std::span<const Variant<GatherProblem>> gather_variants();
std::span<const Variant<ScatterProblem>> scatter_variants();

/// Does what ops::gather does, under the name of the table's op. `missing` is the value for missing elements. `fault`
/// is the number with which kernels note them. With 0 they are not noted. `into` is the place of the result, or nullptr
/// (ops/result.h).
Tensor gather_or(const Table<GatherProblem>& table, const Tensor& x, int axis, const Tensor& index,
                 std::uint64_t missing, std::int32_t fault, const Tensor* into = nullptr);

/// Does what index_add does, in place on y, under the name of the table's op. The tensors are contiguous, as (outer,
/// size, inner). Adds nothing to the destination `skipped`.
void add_at(const Table<ScatterProblem>& table, const Tensor& y, const AxisSplit& split, const Tensor& index,
            const Tensor& src, std::optional<std::int64_t> skipped = std::nullopt);

}  // namespace crisol::ops
