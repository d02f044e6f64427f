#include "ops/index/indexing.h"

#include <cstring>
#include <limits>

#include "crisol/dtype_table.h"
#include "ops/check.h"
#include "runtime/verbose.h"
#include "tensor/trace.h"

namespace crisol::ops {

AxisSplit split_at(const Shape& shape, int axis) {
  AxisSplit split;
  for (int i = 0; i < axis; ++i) split.outer *= shape[i];
  if (!shape.empty()) split.size = shape[axis];
  for (int i = axis + 1; i < shape.rank(); ++i) split.inner *= shape[i];
  return split;
}

const char* type_of_element(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    default: return "ulong";
  }
}

void require_index(const char* op, const Tensor& x, const Tensor& index) {
  require(x.defined() && index.defined(), op, "a tensor is undefined");
  require(is_whole(index.dtype()), op, "the indices must be ", TypesThat{is_whole}, ", they are ", index.dtype());
  require_device(op, "the tensor", x, "the index", index);
}

bool checks_indices() {
  static const std::string wanted = runtime::environment("CRISOL_CHECK_INDICES");
  return !wanted.empty() && wanted != "0";
}

void check_indices(const char* op, const Tensor& index, std::int64_t size, std::optional<std::int64_t> ignored) {
  if (!checks_indices()) return;
  const PauseTrace pause;
  const std::vector<std::int64_t> values = index.to(DType::i64).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i)
    require((values[i] >= 0 && values[i] < size) || values[i] == ignored, op, "index ", values[i], " at position ", i,
            " is not in [0, ", size, ")");
}

namespace {

thread_local std::int32_t scoped_fault = 0;  // The number of the thread's IndexScope, or 0.

}  // namespace

IndexScope::IndexScope(const char* op, runtime::FaultKind kind) noexcept : outer_(scoped_fault) {
  if (scoped_fault == 0) scoped_fault = runtime::fault_number(op, kind);
}

IndexScope::IndexScope(std::int32_t number) noexcept : outer_(scoped_fault) {
  if (scoped_fault == 0) scoped_fault = number;
}

IndexScope::~IndexScope() { scoped_fault = outer_; }

std::int32_t fault_number(const char* op) {
  return scoped_fault != 0 ? scoped_fault : runtime::fault_number(op, runtime::FaultKind::index);
}

std::uint64_t missing_element(DType dtype) {
  return with_host_type(dtype, [](auto element) {
    using T = decltype(element);
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>)
      element = std::is_signed_v<T> ? Limits::min() : Limits::max();
    else
      element = element_of<T>(std::numeric_limits<double>::quiet_NaN());
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
  });
}

}  // namespace crisol::ops
