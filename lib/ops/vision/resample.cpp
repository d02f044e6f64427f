// Weighted sums along one axis: cl_kernels/vision/resample.cl.
#include "ops/vision/resample.h"
#include "ops/contiguous.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

void AxisWeights::add(std::int64_t index, double weight) {
  if (indices.size() > static_cast<std::size_t>(starts.back()) && indices.back() == index) {
    weights.back() += static_cast<float>(weight);
    return;
  }
  indices.push_back(static_cast<std::int32_t>(index));
  weights.push_back(static_cast<float>(weight));
}

bool AxisWeights::only_picks() const {
  if (indices.size() != static_cast<std::size_t>(count())) return false;
  for (std::size_t j = 0; j < indices.size(); ++j)
    if (starts[j + 1] != starts[j] + 1 || weights[j] != 1) return false;
  return true;
}

AxisWeights AxisWeights::transposed() const {
  AxisWeights result;
  result.size = count();
  result.starts.assign(static_cast<std::size_t>(size) + 1, 0);
  for (const std::int32_t index : indices) ++result.starts[static_cast<std::size_t>(index) + 1];
  for (std::size_t i = 1; i < result.starts.size(); ++i) result.starts[i] += result.starts[i - 1];
  std::vector<std::int32_t> next(result.starts.begin(), result.starts.end() - 1);
  result.indices.resize(indices.size());
  result.weights.resize(indices.size());
  for (std::size_t j = 0; j + 1 < starts.size(); ++j)
    for (auto e = static_cast<std::size_t>(starts[j]); e < static_cast<std::size_t>(starts[j + 1]); ++e) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(indices[e])]++);
      result.indices[place] = static_cast<std::int32_t>(j);
      result.weights[place] = weights[e];
    }
  return result;
}

namespace {

/// The table as the kernels read it.
std::vector<std::int32_t> table_of(const AxisWeights& weights) {
  std::vector<std::int32_t> table(weights.starts);
  table.insert(table.end(), weights.indices.begin(), weights.indices.end());
  for (const float weight : weights.weights) table.push_back(std::bit_cast<std::int32_t>(weight));
  return table;
}

/// The table on a device. The last ones are kept there, so that a network uploads none from its second run on, and can
/// be captured.
Tensor uploaded(const AxisWeights& weights, Device device) {
  constexpr std::size_t longest = 65536, most = 64;
  using Key = std::pair<int, std::vector<std::int32_t>>;
  Key key{device.index(), table_of(weights)};
  if (key.second.size() > longest) return from_vector(key.second, device);
  // Kept for threads that outlive static objects.
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::map<Key, Tensor>;
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  const Tensor table = from_vector(key.second, device);
  if (kept.size() >= most) kept.clear();
  kept.emplace(std::move(key), table);
  return table;
}

}  // namespace

Tensor resample(const Tensor& x, int axis, const AxisWeights& weights) {
  constexpr const char* op = "resample";
  require_dtype(op, "the input", x, DType::f32);
  const int at = normalized_axis(op, axis, x.dim());
  require(x.size(at) == weights.size, op, "the weights are for an axis of ", weights.size, ", the input has shape ",
          x.shape());
  Shape shape = x.shape();
  shape[at] = weights.count();
  runtime::DeviceState& device = state_of(x);
  const Tensor y = empty(shape, DType::f32, x.device());
  if (y.numel() == 0) return y;
  const Contiguous from(x);
  const Tensor table = uploaded(weights, x.device());
  const AxisSplit split = split_at(x.shape(), at);
  const auto count = static_cast<std::int32_t>(weights.count());
  const dispatch::Target target = dispatch::target_of(device);
  const auto run = [&](const char* entry, const runtime::NdRange& range, const auto&... more) {
    runtime::launch(device, {"vision/resample.cl", entry, {{"VW", target.cpu_vector_width()}}}, range, in(from),
                    in(table), out(y), split.outer, count, split.size, split.inner, more...);
  };
  if (target.info.type != DeviceType::cpu) {
    run("resample_elements", target.flat_range(y.numel()));
    return y;
  }
  // The most terms of a sum, with some more for the loop around them.
  std::int64_t terms = 2;
  for (std::size_t j = 1; j < weights.starts.size(); ++j)
    terms = std::max<std::int64_t>(terms, weights.starts[j] - weights.starts[j - 1] + 2);
  const std::int64_t rows = split.outer * count;
  if (split.inner == 1) {
    run("resample_lines", persistent_range(target, rows, terms));
    return y;
  }
  const std::int64_t columns = std::min<std::int64_t>(split.inner, 4096), blocks = ceil_div(split.inner, columns);
  const std::int64_t vectors = ceil_div(columns, target.cpu_vector_width());
  run("resample_rows", persistent_range(target, rows * blocks, vectors * (terms + 32)), columns, blocks);
  return y;
}

}  // namespace crisol::ops
