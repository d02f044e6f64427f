// Weighted sums along one axis: cl_kernels/vision/resample.cl. The variants are "lines" (CPUs, along the last axis),
// "rows" (CPUs) and "elements".
#include "ops/vision/resample.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

void AxisWeights::add(std::int64_t index, double weight) {
  if (indices.size() > static_cast<std::size_t>(starts.back()) && indices.back() == index) {
    weights.back() += weight;
    return;
  }
  indices.push_back(static_cast<std::int32_t>(index));
  weights.push_back(weight);
}

bool AxisWeights::only_picks() const {
  if (indices.size() != static_cast<std::size_t>(count())) return false;
  for (std::size_t j = 0; j < indices.size(); ++j)
    if (starts[j + 1] != starts[j] + 1 || static_cast<float>(weights[j]) != 1) return false;
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
  for (const double weight : weights.weights) table.push_back(std::bit_cast<std::int32_t>(static_cast<float>(weight)));
  return table;
}

/// The table on a device. The last tables are kept. So the second run of a network uploads nothing and can be captured.
Tensor uploaded(const AxisWeights& weights, Device device) {
  constexpr std::size_t longest = 65536, most = 64;
  using Key = std::pair<int, std::vector<std::int32_t>>;
  Key key{device.index(), table_of(weights)};
  if (key.second.size() > longest) return from_vector(key.second, device);
  // Never destroyed, because threads may outlive static objects.
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::map<Key, Tensor>;
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  const Tensor table = from_vector(key.second, device);
  if (kept.size() >= most) kept.clear();
  kept.emplace(std::move(key), table);
  return table;
}

struct ResampleProblem {
  std::int64_t outer, count, size, inner;
  std::int64_t terms;  ///< The largest number of terms in a sum.
  std::int64_t type;   ///< The DType of the elements in memory.

  dispatch::ProblemKey key() const {
    const dispatch::ProblemKey key{
        {"outer", outer}, {"out_size", count}, {"size", size}, {"inner", inner}, {"terms", terms}};
    return key.with_types(type);
  }
};

template <class... More>
Plan plan_of(const ResampleProblem& p, const Target& target, const char* entry, const runtime::NdRange& range,
             More... more) {
  const auto [x, weights, y] = operands<3>();
  runtime::Defines defines{{"VW", target.cpu_vector_width()}};
  define_elements(defines, p.type);
  Plan plan;
  plan.add({"vision/resample.cl", entry, defines}, range, x, weights, y, p.outer, static_cast<std::int32_t>(p.count),
           p.size, p.inner, more...);
  return plan;
}

PlanOr plan_lines(const ResampleProblem& p, const Target& target, std::size_t) {
  if (p.inner != 1) return "the axis is not the last one";
  const std::int64_t iterations = p.terms + 2;
  if (const char* reason = target.against_iterations(iterations)) return reason;
  return plan_of(p, target, "resample_lines", persistent_range(target, p.outer * p.count, iterations));
}

PlanOr plan_rows(const ResampleProblem& p, const Target& target, std::size_t) {
  const std::int64_t columns = std::min<std::int64_t>(p.inner, 4096), blocks = ceil_div(p.inner, columns);
  // A vector takes some more iterations than its terms, because the last vector may be stored element by element.
  const std::int64_t iterations = ceil_div(columns, target.cpu_vector_width()) * (p.terms + 34);
  if (const char* reason = target.against_iterations(iterations)) return reason;
  return plan_of(p, target, "resample_rows", persistent_range(target, p.outer * p.count * blocks, iterations), columns,
                 blocks);
}

PlanOr plan_elements(const ResampleProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, "resample_elements", target.flat_range(p.outer * p.count * p.inner));
}

constexpr Variant<ResampleProblem> resample_variants[] = {{"lines", DeviceClass::cpu, plan_lines},
                                                          {"rows", DeviceClass::cpu, plan_rows},
                                                          {"elements", DeviceClass::any, plan_elements}};
const Table<ResampleProblem> resample_table("resample", resample_variants);

std::int64_t most_terms(const AxisWeights& weights) {
  std::int64_t most = 0;
  for (std::size_t j = 1; j < weights.starts.size(); ++j)
    most = std::max<std::int64_t>(most, weights.starts[j] - weights.starts[j - 1]);
  return most;
}

/// The sums for f64, made of other ops. Term k of all sums is one tensor. `y` has the result's shape.
Tensor wide_resample(const Tensor& x, int axis, const AxisWeights& weights, const Tensor& y) {
  Shape along = Shape::filled(x.dim(), 1);
  along[axis] = weights.count();
  fill_into(y, 0);
  for (std::int64_t k = 0; k < most_terms(weights); ++k) {
    std::vector<std::int32_t> indices;
    std::vector<double> factors;
    for (std::size_t j = 0; j + 1 < weights.starts.size(); ++j) {
      const auto entry = static_cast<std::size_t>(weights.starts[j] + k);
      const bool exists = entry < static_cast<std::size_t>(weights.starts[j + 1]);
      indices.push_back(exists ? weights.indices[entry] : 0);
      factors.push_back(exists ? weights.weights[entry] : 0);
    }
    const Tensor factor = reshape(from_vector(factors, x.dtype(), x.device()), along);
    const Tensor terms = mul(index_select(x, axis, from_vector(indices, x.device())), factor);
    accumulate_into(y, where(ne(factor, 0), terms, 0));
  }
  return y;
}

}  // namespace

Tensor resample(const Tensor& x, int axis, const AxisWeights& weights) {
  const char* const op = resample_table.op;
  require_floating(op, "the input", x);
  const int at = normalized_axis(op, axis, x.dim());
  require(x.size(at) == weights.size, op, "the weights are for an axis of ", weights.size, ", the input has shape ",
          x.shape());
  Shape shape = x.shape();
  shape[at] = weights.count();
  const Tensor y = empty(shape, x.dtype(), x.device());
  if (y.numel() == 0) return y;
  if (!computes_in_f32(x.dtype())) return wide_resample(x, at, weights, y);
  const Contiguous from(x);
  const AxisSplit split = split_at(x.shape(), at);
  const PreparedPtr prepared =
      prepare(resample_table,
              {split.outer, weights.count(), split.size, split.inner, most_terms(weights), storage_of(x)}, state_of(x));
  const Tensor table = uploaded(weights, x.device());
  launch(*prepared, {in(from), in(table), out(y)});
  return y;
}

}  // namespace crisol::ops
