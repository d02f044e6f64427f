// Running sums along an axis. An axis that is longer than a work-item (or group) should take is cut into blocks: their
// sums come from a reduction, what lies before each from a scan of those, and the rest is one launch.
#include <algorithm>

#include "base/ceil_div.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "dispatch/persistent.h"
#include "dispatch/variant.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

struct Problem {
  runtime::DeviceState& device;
  Tensor x, y;  ///< (outer, n, inner), contiguous, f32 or i64.
  bool reverse;

  std::int64_t outer() const { return x.shape()[0]; }
  std::int64_t n() const { return x.shape()[1]; }
  std::int64_t inner() const { return x.shape()[2]; }
  ProblemKey key() const {
    return {{"outer", outer()},
            {"length", n()},
            {"inner", inner()},
            {"i64", x.dtype() == DType::i64},
            {"reverse", reverse}};
  }
};

void scan(const Problem& problem);

/// The length of blocks so that `pieces` that do not depend on each other times their number is what is wanted; at
/// least `least`, at most `most`.
std::int64_t block_length(const Problem& p, std::int64_t pieces, std::int64_t wanted, std::int64_t least,
                          std::int64_t most) {
  const std::int64_t blocks = std::clamp<std::int64_t>(p.n() / least, 1, ceil_div(wanted, pieces));
  return std::clamp<std::int64_t>(ceil_div(ceil_div(p.n(), blocks), 64) * 64, 1, most);
}

runtime::Kernel& kernel_of(const Problem& p, const char* entry, std::int64_t local) {
  const bool wide = p.x.dtype() == DType::i64;
  runtime::KernelSpec spec{"reduce/cumsum.cl", entry, {{"S", wide ? "long" : "float"}, {"REVERSE", p.reverse ? 1 : 0}}};
  if (wide) spec.defines.add({"INTEGER", 1});
  spec.defines.add({"VW", cpu_vector_width(p.device)});
  spec.defines.add({"LOCAL", local});
  return runtime::resolve(p.device, spec);
}

/// The sums over all blocks up to 0, 1, … but the last, from where the sum begins.
Tensor offsets_of(const Problem& p, std::int64_t length, std::int64_t blocks) {
  if (blocks == 1) return p.x;  // Not read.
  const std::int64_t covered = (blocks - 1) * length;
  const Tensor whole = narrow(p.x, 1, p.reverse ? p.n() - covered : 0, covered);
  // Split along the axis, a view of any strides.
  const Shape& strides = whole.strides();
  const Tensor in_blocks = make_view(whole, {p.outer(), blocks - 1, length, p.inner()},
                                     {strides[0], strides[1] * length, strides[1], strides[2]}, whole.offset());
  const Tensor sums = sum(in_blocks, {2});
  const Tensor offsets = empty(sums.shape(), p.x.dtype(), p.x.device());
  scan({p.device, sums, offsets, p.reverse});
  return offsets;
}

struct Launch {
  const char* entry;
  std::int64_t length;          ///< Of a block.
  std::int64_t units_of_block;  ///< Independent pieces of a block.
  std::int64_t local;           ///< LOCAL.
};

template <class Range>
void launch(const Problem& p, const Launch& l, Range range_of_units) {
  runtime::Kernel& kernel = kernel_of(p, l.entry, l.local);
  const std::int64_t blocks = ceil_div(p.n(), l.length), units = p.outer() * blocks * l.units_of_block;
  const Tensor offsets = offsets_of(p, l.length, blocks);
  const Shape sizes{p.outer(), p.n(), p.inner(), blocks, l.length, units};
  runtime::launch(p.device, kernel, range_of_units(units), in(p.x), in(offsets), out(p.y), sizes);
}

/// Blocks that the work is worth on a CPU.
std::int64_t cpu_items(const Problem& p) {
  const std::int64_t units = runtime::info_of(p.device).compute_units;
  return std::clamp<std::int64_t>(p.x.numel() >> 17, 1, 4 * units);
}

const char* refuse_cpu_rows(const Problem& p, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "long chunks for few work-items are for CPUs";
  return p.inner() == 1 ? nullptr : "the axis is not contiguous";
}

void run_cpu_rows(const Problem& p) {
  const std::int64_t most = loop_budget(runtime::info_of(p.device)) / 4;
  const std::int64_t length = block_length(p, p.outer(), cpu_items(p), 1 << 16, most);
  launch(p, {"rows", length, 1, 2},
         [&](std::int64_t units) { return persistent_range(p.device, units, 2 * length + 64); });
}

const char* refuse_cpu_columns(const Problem& p, const DeviceInfo& info) {
  if (info.type != DeviceType::cpu) return "long chunks for few work-items are for CPUs";
  return p.inner() > 1 ? nullptr : "the axis is contiguous";
}

void run_cpu_columns(const Problem& p) {
  const std::int64_t lanes = cpu_vector_width(p.device), strips = ceil_div(p.inner(), lanes);
  const std::int64_t rounds = lanes + 4,
                     most = std::max<std::int64_t>(1, loop_budget(runtime::info_of(p.device)) / 4 / rounds);
  const std::int64_t length = block_length(p, p.outer() * strips, cpu_items(p), 1 << 10, most);
  launch(p, {"columns", length, strips, 2},
         [&](std::int64_t units) { return persistent_range(p.device, units, rounds * length + 64); });
}

void run_items(const Problem& p) {
  const std::int64_t length = block_length(p, p.outer() * p.inner(), 1 << 15, 64, 1 << 14);
  launch(p, {"items", length, p.inner(), 2}, [&](std::int64_t units) { return runtime::flat_range(p.device, units); });
}

void run_groups(const Problem& p) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const auto local = static_cast<std::int64_t>(std::min<std::uint64_t>(128, info.max_work_group));
  const std::int64_t length = block_length(p, p.outer(), std::int64_t{8} * info.compute_units, 8 * local, 1 << 16);
  launch(p, {"groups", length, 1, local}, [&](std::int64_t units) {
    return runtime::NdRange{{units * local}, {local}};
  });
}

const char* refuse_groups(const Problem& p, const DeviceInfo&) {
  return p.inner() == 1 ? nullptr : "the axis is not contiguous";
}

constexpr Variant<Problem> variants[] = {{"rows", refuse_cpu_rows, run_cpu_rows},
                                         {"columns", refuse_cpu_columns, run_cpu_columns},
                                         {"groups", refuse_groups, run_groups},
                                         {"items", accept_all, run_items}};

void scan(const Problem& problem) {
  choose("cumsum", variants, problem, runtime::info_of(problem.device)).run(problem);
}

Tensor running_sum(const char* op, const Tensor& x, int axis, bool reverse) {
  require(x.defined(), op, "the tensor is undefined");
  axis = normalized_axis(op, axis, x.dim());
  // Halves are added up as floats, integers as i64.
  const bool floating = is_floating(x.dtype());
  const DType computed = floating ? DType::f32 : DType::i64;
  const Tensor y = empty(x.shape(), computed, x.device());
  if (x.numel() > 0) {
    Shape around{1, x.shape()[axis], 1};
    for (int i = 0; i < axis; ++i) around[0] *= x.shape()[i];
    for (int i = axis + 1; i < x.dim(); ++i) around[2] *= x.shape()[i];
    scan({state_of(x), reshape(contiguous(cast(x, computed)), around), reshape(y, around), reverse});
  }
  return floating ? cast(y, x.dtype()) : y;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) { return running_sum("cumsum", x, axis, false); }

Tensor cumsum_backward(const Tensor& dy, int axis) { return running_sum("cumsum_backward", dy, axis, true); }

}  // namespace crisol::ops
