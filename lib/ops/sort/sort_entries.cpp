#include "ops/sort/sort_entries.h"

#include "dispatch/work_split.h"
#include "ops/sort/sort_rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

runtime::Kernel& kernel_of(const Tensor& x, const char* type, const char* entry) {
  return runtime::resolve(state_of(x), {"sort/sort_entries.cl", entry, {{"TYPE", type}}});
}

// Queues a kernel of sort_entries.cl over `count` elements with the arguments (args…, chunk).
template <class... Args>
void launch_chunks(runtime::DeviceState& device, runtime::Kernel& kernel, std::int64_t count, const Args&... args) {
  const bool cpu = runtime::info_of(device).type == DeviceType::cpu;
  const WorkSplit split = cpu ? split_for_cpu(device, count) : WorkSplit{count, 1};
  runtime::launch(device, kernel, cpu ? runtime::NdRange{{split.items}, {1}} : runtime::flat_range(device, count),
                  args..., split.chunk);
}

}  // namespace

const char* key_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f16: return "half";
    case DType::i32: return "int";
    case DType::i64: return "long_low";
    case DType::u8:
    case DType::boolean: return "uchar";
  }
  return nullptr;
}

Tensor sorted_entries(const Tensor& x, bool descending) {
  runtime::DeviceState& device = state_of(x);
  const std::int64_t count = x.numel(), n = x.shape()[1];
  const std::uint32_t flip = flip_of(descending);
  runtime::Kernel& make = kernel_of(x, key_type(x.dtype()), "make_entries");
  runtime::Kernel* next = nullptr;
  runtime::Kernel* join = nullptr;
  if (x.dtype() == DType::i64) {
    next = &kernel_of(x, "long_high", "make_next_entries");
    join = &kernel_of(x, "long_high", "join_orders");
  }
  const Tensor entries = empty({x.shape()[0], n}, DType::i64, x.device());
  if (count == 0) return entries;
  launch_chunks(device, make, count, in(x), out(entries), count, n, flip);
  const Tensor sorted = sort_rows(entries);
  if (next == nullptr) return sorted;
  // First sorts by the lower half, then, with a stable sort, by the upper half.
  const Tensor again = empty({x.shape()[0], n}, DType::i64, x.device());
  launch_chunks(device, *next, count, in(x), in(sorted), out(again), count, n, flip);
  const Tensor order = sort_rows(again);
  launch_chunks(device, *join, count, in(sorted), out(order), count, n);
  return order;
}

SortResult take_elements(const Tensor& x, const Tensor& entries, std::int64_t k) {
  const std::int64_t rows = x.shape()[0], count = rows * k;
  runtime::Kernel& take = kernel_of(x, x.dtype() == DType::i64 ? "long_high" : key_type(x.dtype()), "take_elements");
  const SortResult result{empty({rows, k}, x.dtype(), x.device()), empty({rows, k}, DType::i64, x.device())};
  if (count > 0)
    launch_chunks(state_of(x), take, count, in(x), in(entries), out(result.values), out(result.indices), count, k,
                  entries.shape()[1], x.shape()[1]);
  return result;
}

}  // namespace crisol::ops
