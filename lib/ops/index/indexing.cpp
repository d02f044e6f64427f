#include "ops/index/indexing.h"

#include "ops/check.h"
#include "runtime/dry_run.h"
#include "runtime/verbose.h"
#include "tensor/recorder.h"

namespace crisol::ops {

AxisSplit split_at(const Shape& shape, int axis) {
  AxisSplit split;
  for (int i = 0; i < axis; ++i) split.outer *= shape[i];
  split.size = shape[axis];
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
  require(is_whole(index.dtype()), op, "the indices must be i64, i32 or u8, they are ", index.dtype());
  require_device(op, "the tensor", x, "the index", index);
}

void check_indices(const char* op, const Tensor& index, std::int64_t size, std::optional<std::int64_t> ignored) {
  static const std::string wanted = runtime::environment("CRISOL_CHECK_INDICES");
  if (wanted.empty() || wanted == "0") return;
  if (runtime::in_dry_run() && !runtime::needs_no_kernels()) return;  // The op that runs after the dry run checks them.
  const PauseRecorder pause;
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

IndexScope::~IndexScope() { scoped_fault = outer_; }

std::int32_t fault_number(const char* op) {
  return scoped_fault != 0 ? scoped_fault : runtime::fault_number(op, runtime::FaultKind::index);
}

std::uint64_t missing_element(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0x7fc00000u;
    case DType::f16: return 0x7e00u;
    case DType::i32: return 0x80000000u;
    case DType::i64: return std::uint64_t{1} << 63;
    case DType::u8: return 255;
    case DType::boolean: return 1;
  }
  return 0;
}

}  // namespace crisol::ops
