#include "functions/fuse/fused_backward.h"

#include <algorithm>

#include "crisol/functions/elementwise.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/view.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;

const ops::ReduceRule sum_of_gradients{"fuse", ops::Combine::sum, ops::ReduceTypes::total};

bool is_extreme(const Trailing& trailing) {
  return trailing.kind == Trailing::Kind::max || trailing.kind == Trailing::Kind::min;
}

// Counts the elements that share the gradient of a max or min: the sum of 1 over all elements equal to the result.
std::unique_ptr<const FusedReduction> count_ties(const Recording& recording, std::size_t result) {
  FusedGraph fused = recording.fused;
  const int value = fused.outputs[result];
  const int extreme = fused.graph.input(fused.graph[value].type.dtype);
  fused.tensors.push_back({TensorOrigin::Kind::result, result});
  const int hit = equal_or_both_nan(fused.graph, value, extreme);
  const int one = fused.graph.convert(hit, DType::f32);
  return std::make_unique<const FusedReduction>(fused, one);
}

void add_new(std::vector<TensorOrigin>& list, const std::vector<TensorOrigin>& more) {
  for (const TensorOrigin& origin : more)
    if (origin.kind != TensorOrigin::Kind::gradient && std::find(list.begin(), list.end(), origin) == list.end())
      list.push_back(origin);
}

// A view of a reduced result, or of its gradient, that broadcasts to the shape before the reduction.
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

FusedBackward::FusedBackward(const char* op, const Recording& recording, std::uint32_t wanted)
    : op_(op), gradient_(gradient_of(recording, wanted)) {
  add_new(reads_, gradient_.fused.tensors);
  ties_.resize(recording.trailing.size());
  for (std::size_t r = 0; r < recording.trailing.size(); ++r) {
    result_types_.push_back(recording.fused.graph[recording.fused.outputs[r]].type.dtype);
    if (!gradient_.depends[r]) continue;
    differentiable_.push_back(r);
    if (!is_extreme(recording.trailing[r])) continue;
    ties_[r] = count_ties(recording, r);
    add_new(reads_, ties_[r]->tensors());
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

// The tensor that the gradient graph reads as the gradient of a result.
Tensor FusedBackward::prepared_gradient(std::size_t result, const FusedValues& values) const {
  const Tensor& given = values.gradients[result];
  if (!given.defined()) return zeros({}, result_types_[result], values.device);
  const Trailing& trailing = values.trailing[result];
  const Tensor gradient = broadcastable(given, trailing, values.shape);
  if (!ties_[result]) return gradient;
  const Tensor ties = ties_[result]->run(sum_of_gradients, values, axes_of(trailing), true);
  return div(gradient, ops::reshape(ties, gradient.shape()));
}

std::vector<Tensor> FusedBackward::run(const FusedValues& given, std::span<const Shape> shapes) const {
  FusedValues values = given;
  std::vector<Tensor> results, gradients(given.results.size());
  for (std::size_t r = 0; r < given.results.size(); ++r)
    results.push_back(given.results[r].defined() ? broadcastable(given.results[r], given.trailing[r], given.shape)
                                                 : Tensor());
  values.results = results;
  for (const std::size_t r : differentiable_) gradients[r] = prepared_gradient(r, values);
  values.gradients = gradients;
  if (grad_enabled()) return run_recorded(values, shapes);

  const PointwiseGraph& graph = gradient_.fused.graph;
  std::vector<Tensor> all(shapes.size());
  std::vector<int> nodes;           // Gradients to store over the joint shape.
  std::vector<std::size_t> stored;  // The tensors that they belong to.
  for (std::size_t i = 0; i < gradient_.wanted.size(); ++i) {
    const std::size_t tensor = gradient_.wanted[i];
    const int node = gradient_.fused.outputs[i];
    if (shapes[tensor] != values.shape) {
      const Tensor total =
          reduction_for(i).run(sum_of_gradients, values, repeated_axes(shapes[tensor], values.shape), false);
      all[tensor] = ops::reshape(total, shapes[tensor]);
    } else if (graph[node].kind == PointwiseGraph::Kind::input) {
      // The gradient of the result is passed on unchanged.
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
