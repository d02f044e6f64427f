#include "functions/fuse/fused_backward.h"

#include <algorithm>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;

const ops::ReduceRule sum_of_gradients{"fuse", ops::Combine::sum, ops::ReduceTypes::total};

// Counts the elements that are equal to the maximum or minimum.
FusedReduction count_ties(std::size_t result, DType dtype) {
  FusedGraph fused;
  const int hits = add_hits(fused, result, dtype);
  return {fused, fused.graph.convert(hits, DType::f32)};
}

void add_new(std::vector<TensorOrigin>& list, const std::vector<TensorOrigin>& more) {
  for (const TensorOrigin& origin : more)
    if ((origin.kind == TensorOrigin::Kind::argument || origin.kind == TensorOrigin::Kind::result) &&
        std::find(list.begin(), list.end(), origin) == list.end())
      list.push_back(origin);
}

// A view of a reduced result, or of its gradient, that broadcasts to the unreduced shape `shape`.
Tensor broadcastable(const Tensor& x, const Trailing& trailing, const Shape& shape) {
  if (trailing.kind == Trailing::Kind::none) return x;
  Shape with = trailing.last_axis ? shape : Shape();
  if (!with.empty()) with[with.rank() - 1] = 1;
  return x.reshape(with);
}

// The axes along which a tensor of shape `from` is repeated to get shape `to`.
Shape repeated_axes(const Shape& from, const Shape& to) {
  Shape axes;
  const int ahead = to.rank() - from.rank();
  for (int i = 0; i < to.rank(); ++i)
    if (i < ahead || (from[i - ahead] == 1 && to[i] != 1)) axes.push_back(i);
  return axes;
}

}  // namespace

FusedBackward::FusedBackward(const char* op, const Formula& formula, std::uint32_t wanted)
    : op_(op), gradient_(gradient_of(formula, wanted)) {
  add_new(reads_, gradient_.fused.tensors);
  extremes_.resize(formula.trailing.size());
  for (std::size_t r = 0; r < formula.trailing.size(); ++r) {
    result_types_.push_back(formula.fused.graph[formula.fused.outputs[r]].type.dtype);
    if (!gradient_.depends[r]) continue;
    differentiable_.push_back(r);
    if (!is_extreme(formula.trailing[r])) continue;
    extremes_[r] = std::make_unique<const Extreme>(
        Extreme{{formula.fused, {&formula.fused.outputs[r], 1}}, count_ties(r, result_types_[r])});
    add_new(reads_, extremes_[r]->elements.tensors());
  }
}

const FusedKernels& FusedBackward::kernels_for(std::span<const int> outputs) const {
  const std::lock_guard lock(mutex_);
  const std::vector<int> key(outputs.begin(), outputs.end());
  return kernels_.try_emplace(key, gradient_.fused, outputs).first->second;
}

const FusedReduction& FusedBackward::reduction_for(std::size_t output) const {
  const std::lock_guard lock(mutex_);
  return reductions_.try_emplace(output, gradient_.fused, gradient_.fused.outputs[output]).first->second;
}

FusedBackward::Prepared FusedBackward::prepare(const FusedValues& given) const {
  const std::size_t count = given.results.size();
  Prepared made{std::vector<Tensor>(count), std::vector<Tensor>(count), std::vector<Tensor>(count),
                std::vector<Tensor>(count)};
  for (std::size_t r = 0; r < count; ++r)
    if (given.results[r].defined()) made.results[r] = broadcastable(given.results[r], given.trailing[r], given.shape);
  FusedValues values = given;
  values.elements = made.elements;
  values.extremes = made.extremes;
  for (const std::size_t r : differentiable_) {
    if (!given.gradients[r].defined()) {
      made.gradients[r] = made.elements[r] = made.extremes[r] = zeros({}, result_types_[r], given.device);
      continue;
    }
    const Trailing& trailing = given.trailing[r];
    made.gradients[r] = broadcastable(given.gradients[r], trailing, given.shape);
    if (!extremes_[r]) continue;
    const Shape axes = axes_of(trailing);
    made.elements[r] = empty(given.shape, result_types_[r], given.device);
    extremes_[r]->elements.run_into(op_, given, {&made.elements[r], 1});
    made.extremes[r] = trailing.kind == Trailing::Kind::max ? ops::max(made.elements[r], axes, true)
                                                            : ops::min(made.elements[r], axes, true);
    const Tensor ties = extremes_[r]->ties.run(sum_of_gradients, values, axes, true);
    made.gradients[r] = div(made.gradients[r], ops::reshape(ties, made.gradients[r].shape())).to(result_types_[r]);
  }
  return made;
}

std::vector<Tensor> FusedBackward::run(const FusedValues& given, std::span<const Shape> shapes) const {
  const Prepared prepared = prepare(given);
  FusedValues values = given;
  values.results = prepared.results;
  values.gradients = prepared.gradients;
  values.elements = prepared.elements;
  values.extremes = prepared.extremes;
  return grad_enabled() ? run_differentiable(values, shapes) : run_fused(values, shapes);
}

std::vector<Tensor> FusedBackward::run_fused(const FusedValues& values, std::span<const Shape> shapes) const {
  const PointwiseGraph& graph = gradient_.fused.graph;
  std::vector<Tensor> all(shapes.size());
  std::vector<int> nodes;           // Gradients that are stored over the joint shape.
  std::vector<std::size_t> stored;  // The tensors to which they belong.
  for (std::size_t i = 0; i < gradient_.wanted.size(); ++i) {
    const std::size_t tensor = gradient_.wanted[i];
    const int node = gradient_.fused.outputs[i];
    if (shapes[tensor] != values.shape) {
      const Tensor total =
          reduction_for(i).run(sum_of_gradients, values, repeated_axes(shapes[tensor], values.shape), false);
      all[tensor] = ops::reshape(total, shapes[tensor]);
    } else if (graph[node].kind == PointwiseGraph::Kind::input) {
      // The gradient of the result is used unchanged.
      const TensorOrigin& origin = gradient_.fused.tensors[static_cast<std::size_t>(graph[node].index)];
      all[tensor] = ops::expand(values.tensor(origin), values.shape);
    } else {
      nodes.push_back(node);
      stored.push_back(tensor);
    }
  }
  for (std::size_t first = 0; first < nodes.size(); first += PointwiseGraph::max_outputs) {
    const std::size_t count = std::min(PointwiseGraph::max_outputs, nodes.size() - first);
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < count; ++i)
      outputs.push_back(empty(values.shape, graph[nodes[first + i]].type.dtype, values.device));
    kernels_for({nodes.data() + first, count}).run_into(op_, values, outputs);
    for (std::size_t i = 0; i < count; ++i) all[stored[first + i]] = outputs[i];
  }
  return all;
}

}  // namespace crisol::detail
