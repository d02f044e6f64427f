#include "ops/sort/sort_entries.h"

#include "crisol/dtype_table.h"
#include "dispatch/work_split.h"

namespace crisol::ops {

namespace {

// Adds a kernel of sort_entries.cl for `count` elements, with the arguments (args…, chunk).
template <class... Args>
void add_chunks(const EntrySteps& steps, const char* type, const char* entry, std::int64_t count, const Args&... args) {
  const dispatch::WorkSplit split = split_for(steps.target, count);
  steps.plan.add({"sort/sort_entries.cl", entry, {{"TYPE", type}}}, range_of(steps.target, split.items), args...,
                 split.chunk);
}

}  // namespace

const char* key_type(DType dtype, bool upper) {
  if (!has_two_keys(dtype)) return number_type(dtype);
  if (is_floating(dtype)) return upper ? "double_high" : "double_low";
  if (kind_of(dtype) == DTypeKind::unsigned_integer) return upper ? "ulong_high" : "ulong_low";
  return upper ? "long_high" : "long_low";
}

void EntrySteps::make(const Place& x, const Place& entries) const {
  const std::int64_t count = rows * n;
  add_chunks(*this, key_type(dtype), "make_entries", count, x, entries, count, n, flip_of(descending));
}

void EntrySteps::make_next(const Place& x, const Place& sorted, const Place& entries) const {
  const std::int64_t count = rows * n;
  add_chunks(*this, key_type(dtype, true), "make_next_entries", count, x, sorted, entries, count, n,
             flip_of(descending));
}

void EntrySteps::join(const Place& sorted, const Place& entries) const {
  const std::int64_t count = rows * n;
  add_chunks(*this, key_type(dtype, true), "join_orders", count, sorted, entries, count, n);
}

void EntrySteps::take(const Place& x, const Place& entries, std::int64_t width, const Place& values,
                      const Place& indices, std::int64_t k) const {
  const std::int64_t count = rows * k;
  add_chunks(*this, key_type(dtype, true), "take_elements", count, x, entries, values, indices, count, k, width, n);
}

}  // namespace crisol::ops
