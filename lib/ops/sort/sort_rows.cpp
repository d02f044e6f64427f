// Sorts rows of entries. The variant "radix" (CPUs) sorts parts of rows by counting digits, with one work-item for each
// part. The variant "merge" sorts runs of up to 1024 entries in local memory. If a row has several parts or runs, they
// are merged two by two.
#include "ops/sort/sort_rows.h"

#include <algorithm>
#include <bit>

#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/product/gemm.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct SortProblem {
  Tensor entries;
  Tensor* sorted;

  std::int64_t rows() const { return entries.shape()[0]; }
  std::int64_t length() const { return entries.shape()[1]; }
  ProblemKey key() const { return {{"rows", rows()}, {"length", length()}}; }
};

// Merges runs of `run` entries until each row is one run. `other` is scratch memory of the same size. Returns the
// tensor that holds the result.
Tensor merge_all(const Tensor& entries, const Tensor& other, std::int64_t run, runtime::Kernel& merge_runs) {
  runtime::DeviceState& device = state_of(entries);
  const bool cpu = runtime::info_of(device).type == DeviceType::cpu;
  const std::int64_t rows = entries.shape()[0], n = entries.shape()[1], piece = cpu ? 4096 : 16;
  Tensor from = entries, to = other;
  for (; run < n; run *= 2) {
    const std::int64_t pairs = (n + 2 * run - 1) / (2 * run), pieces = (2 * run + piece - 1) / piece;
    const std::int64_t items = rows * pairs * pieces;
    runtime::launch(device, merge_runs, cpu ? runtime::NdRange{{items}, {1}} : runtime::flat_range(device, items),
                    in(from), out(to), rows, n, run, piece);
    std::swap(from, to);
  }
  return from;
}

// The number of entries in a part of a row, and the loop iterations for sorting one part.
struct Parts {
  std::int64_t length, iterations;
};

Parts parts_of(const SortProblem& p, const DeviceInfo& info) {
  constexpr std::int64_t counts = 2048 + 64, rounds = 6;  // For the digit counts; for each entry.
  constexpr std::int64_t worth_it = 1 << 14;
  const std::int64_t n = p.length();
  std::int64_t parts = 1;
  // If there are fewer rows than the compute units need, rows are split into parts.
  while (p.rows() * parts < 2 * std::int64_t{info.compute_units} && n / (2 * parts) >= worth_it) parts *= 2;
  const std::int64_t longest = (loop_budget(info) - counts) / rounds;
  const std::int64_t length = std::min((n + parts - 1) / parts, longest);
  return {length, length * rounds + counts};
}

void run_radix(const SortProblem& p) {
  runtime::DeviceState& device = state_of(p.entries);
  const std::int64_t rows = p.rows(), n = p.length();
  const Parts parts = parts_of(p, runtime::info_of(device));
  runtime::Kernel& sort_parts = runtime::resolve(device, {"sort/sort_radix.cl", "sort_parts"});
  runtime::Kernel* merge = nullptr;
  if (parts.length < n) merge = &runtime::resolve(device, {"sort/sort_merge.cl", "merge_runs"});
  const Tensor scratch = empty(p.entries.shape(), DType::i64, p.entries.device());
  const std::int64_t units = rows * ((n + parts.length - 1) / parts.length);
  const runtime::NdRange range = persistent_range(device, units, parts.iterations);
  const Tensor digit_counts =
      empty({static_cast<std::int64_t>(range.global[0]), 4, 256}, DType::i32, p.entries.device());
  runtime::launch(device, sort_parts, range, out(p.entries), out(scratch), out(digit_counts), rows, n, parts.length);
  *p.sorted = merge ? merge_all(p.entries, scratch, parts.length, *merge) : p.entries;
}

void run_merge(const SortProblem& p) {
  constexpr std::int64_t tile = 1024;
  runtime::DeviceState& device = state_of(p.entries);
  const std::int64_t rows = p.rows(), n = p.length();
  const auto group =
      static_cast<std::int64_t>(std::bit_floor(std::min<std::uint64_t>(256, runtime::info_of(device).max_work_group)));
  const auto spec_of = [&](const char* entry) {
    return runtime::KernelSpec{"sort/sort_merge.cl", entry, {{"TILE", tile}, {"GROUP", group}}};
  };
  runtime::Kernel& sort_tiles = runtime::resolve(device, spec_of("sort_tiles"));
  runtime::Kernel& merge_runs = runtime::resolve(device, spec_of("merge_runs"));
  const auto row_width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  const std::int64_t width = std::min(tile, row_width);
  const Tensor other = width < n ? empty(p.entries.shape(), DType::i64, p.entries.device()) : p.entries;
  const std::int64_t runs = rows * ((n + width - 1) / width), runs_of_tile = tile / width;
  const std::int64_t groups = (runs + runs_of_tile - 1) / runs_of_tile;
  runtime::launch(device, sort_tiles, {{groups * group}, {group}}, out(p.entries), rows, n,
                  static_cast<std::int32_t>(width));
  *p.sorted = merge_all(p.entries, other, width, merge_runs);
}

const char* refuse_radix(const SortProblem&, const DeviceInfo& info) {
  return takes_cpu_kernels(info) ? nullptr : "a work-item to a row is for CPUs";
}

constexpr Variant<SortProblem> variants[] = {{"radix", refuse_radix, run_radix}, {"merge", accept_all, run_merge}};

}  // namespace

Tensor sort_rows(const Tensor& entries) {
  Tensor sorted = entries;
  if (entries.numel() > 0)
    choose("sort", variants, SortProblem{entries, &sorted}, entries.device().info()).run({entries, &sorted});
  return sorted;
}

}  // namespace crisol::ops
