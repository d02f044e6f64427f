// Ensembles of decision trees: cl_kernels/estimators.
#include "ops/estimators/trees.h"

#include <algorithm>

#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

DeviceTrees::DeviceTrees(const PackedTrees& packed, Device device)
    : nodes(from_vector(packed.nodes, device)),
      roots(from_vector(packed.roots, device)),
      columns(packed.columns),
      features(packed.features),
      depth(packed.depth),
      strict(packed.strict),
      single(packed.single),
      combine(packed.combine) {
  for (std::size_t i = 0; i < packed.nodes.size(); i += 4) nan_is_true = nan_is_true || packed.nodes[i] < 0;
  // Every argument of a kernel needs a buffer, even a list that the kernel does not read.
  const auto or_one = [](auto list) {
    if (list.empty()) list.push_back(0);
    return list;
  };
  lists = from_vector(or_one(packed.lists), device);
  targets = from_vector(or_one(packed.targets), device);
  weights = from_vector(or_one(packed.weights), device);
}

Tensor tree_sums(const Tensor& x, const DeviceTrees& trees, bool marks_absent) {
  constexpr const char* op = "tree_sums";
  require_dtype(op, "the input", x, DType::f32);
  require(x.dim() == 2 && x.size(1) >= trees.features, op, "the input has shape ", x.shape(), ", (rows, at least ",
          trees.features, ") expected");
  const std::int64_t rows = x.size(0);
  const Tensor sums = empty({rows, trees.columns}, DType::f32, x.device());
  if (rows == 0) return sums;
  runtime::DeviceState& device = state_of(x);
  const dispatch::Target target = dispatch::target_of(device);
  const Contiguous from(x);
  constexpr std::int64_t lanes = 8;
  const std::int64_t count = trees.roots.numel(), iterations = trees.depth + trees.columns;
  const dispatch::WorkSplit split = split_for(target, rows, 64, lanes, std::max<std::int64_t>(iterations, 2));
  const bool has_halves = count > 1 && trees.combine == TreeCombine::sum;
  const Tensor second = has_halves ? empty(sums.shape(), DType::f32, x.device()) : empty({1}, DType::f32, x.device());
  const runtime::KernelSpec spec{"estimators/tree_sums.cl",
                                 "tree_sums",
                                 {{"LANES", target.takes_cpu_kernels() ? lanes : 1},
                                  {"COMBINE", static_cast<std::int64_t>(trees.combine)},
                                  {"STRICT", trees.strict ? 1 : 0},
                                  {"SINGLE", trees.single ? 1 : 0},
                                  {"HALVES", has_halves ? 1 : 0},
                                  {"NAN_IS_TRUE", trees.nan_is_true ? 1 : 0},
                                  {"MARKS_ABSENT", marks_absent || trees.combine != TreeCombine::sum ? 1 : 0}}};
  const runtime::NdRange range = range_of(target, split.items);
  dispatch::in_launches(target, count, split.chunk * iterations, [&](std::int64_t begin, std::int64_t end) {
    runtime::launch(device, spec, range, in(from), in(trees.nodes), in(trees.roots), in(trees.lists), in(trees.targets),
                    in(trees.weights), out(sums), out(second), rows, x.size(1), trees.columns, count, (count + 1) / 2,
                    begin, end, split.chunk);
  });
  return sums;
}

}  // namespace crisol::ops
