// Finds the first elements of an order without sorting the rest. The variants are "select" (CPUs), "group_select" and
// "sort".
#include <algorithm>
#include <bit>

#include "base/text.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "ops/product/gemm.h"
#include "ops/sort/ordered_axis.h"
#include "ops/sort/sort_entries.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct TopkProblem {
  Tensor x;  ///< Contiguous rows.
  std::int64_t k;
  bool largest;
  Tensor* entries;  ///< At least k in each row, in order.

  std::int64_t rows() const { return x.shape()[0]; }
  std::int64_t length() const { return x.shape()[1]; }
  ProblemKey key() const {
    return {{"rows", rows()},
            {"length", length()},
            {"k", k},
            {"largest", largest},
            {"dtype", static_cast<std::int64_t>(x.dtype())}};
  }
};

constexpr const char* two_keys = "64-bit elements are sorted by one half after the other";

constexpr std::int64_t bins = 2048;  // BINS of topk_cpu.cl.

// Loop iterations for one row: counting, listing and sorting all its elements.
std::int64_t iterations_of_row(const TopkProblem& p) { return 8 * p.length() + p.k + 4 * bins; }

runtime::NdRange range_of_select(const TopkProblem& p) {
  return persistent_range(state_of(p.x), p.rows(), iterations_of_row(p));
}

const char* refuse_select(const TopkProblem& p, const DeviceInfo& info) {
  constexpr std::size_t most_scratch = std::size_t{1} << 28;
  if (!takes_cpu_kernels(info)) return "a work-item to a row is for CPUs";
  if (p.x.dtype() == DType::i64) return two_keys;
  if (iterations_of_row(p) > loop_budget(info)) return "the device does not run loops of that length";
  if (16 * range_of_select(p).global[0] * static_cast<std::size_t>(p.length()) > most_scratch)
    return "the lists of entries would be too long";
  return nullptr;
}

void run_select(const TopkProblem& p) {
  runtime::DeviceState& device = state_of(p.x);
  runtime::Kernel& kernel =
      runtime::resolve(device, {"sort/topk_cpu.cl", "select_rows", {{"TYPE", key_type(p.x.dtype())}}});
  const runtime::NdRange range = range_of_select(p);
  const Tensor lists = empty({static_cast<std::int64_t>(range.global[0]), 2, p.length()}, DType::i64, p.x.device());
  const Tensor counts = empty({static_cast<std::int64_t>(range.global[0]), bins}, DType::i32, p.x.device());
  *p.entries = empty({p.rows(), p.k}, DType::i64, p.x.device());
  runtime::launch(device, kernel, range, in(p.x), out(*p.entries), out(lists), out(counts), p.rows(), p.length(), p.k,
                  flip_of(p.largest));
}

constexpr std::int64_t most_of_group = 1024;

std::int64_t group_size(const DeviceInfo& info) {
  return static_cast<std::int64_t>(std::bit_floor(std::min<std::uint64_t>(256, info.max_work_group)));
}

const char* refuse_group_select(const TopkProblem& p, const DeviceInfo& info) {
  if (p.x.dtype() == DType::i64) return two_keys;
  if (p.k > most_of_group) return "more than 1024 elements are wanted";
  if (9 * (p.length() / group_size(info)) + 16384 > loop_budget(info))
    return "the device does not run loops of that length";
  return nullptr;
}

void run_group_select(const TopkProblem& p) {
  runtime::DeviceState& device = state_of(p.x);
  const std::int64_t group = group_size(runtime::info_of(device));
  // The kernel has two tile sizes. Most calls want few elements and use the small one.
  const std::int64_t tile = p.k <= 128 ? 128 : most_of_group;
  runtime::Kernel& kernel = runtime::resolve(
      device,
      {"sort/topk_group.cl", "select_by_group", {{"TYPE", key_type(p.x.dtype())}, {"TILE", tile}, {"GROUP", group}}});
  *p.entries = empty({p.rows(), p.k}, DType::i64, p.x.device());
  runtime::launch(device, kernel, {{p.rows() * group}, {group}}, in(p.x), out(*p.entries), p.length(), p.k,
                  flip_of(p.largest));
}

void run_sort(const TopkProblem& p) { *p.entries = sorted_entries(p.x, p.largest); }

constexpr Variant<TopkProblem> variants[] = {{"select", refuse_select, run_select},
                                             {"group_select", refuse_group_select, run_group_select},
                                             {"sort", accept_all, run_sort}};

}  // namespace

SortResult topk(const Tensor& x, std::int64_t k, int axis, bool largest) {
  const OrderedAxis ordered("topk", x, axis);
  require(k >= 0 && k <= ordered.length(), "topk", "k is ", k, ", axis ", axis, " of shape ", x.shape(), " has ",
          ordered.length(), " elements");
  const Tensor& rows = ordered.rows();
  Tensor entries = empty({rows.shape()[0], k}, DType::i64, x.device());
  if (entries.numel() > 0) {
    const TopkProblem problem{rows, k, largest, &entries};
    choose("topk", variants, problem, x.device().info()).run(problem);
  }
  return ordered.result(take_elements(rows, entries, k));
}

}  // namespace crisol::ops
