#include "functions/fuse/fused_op.h"

#include <algorithm>

#include "autograd/call.h"
#include "base/text.h"
#include "ops/collapse.h"

namespace crisol::detail {

namespace {

void check_elements(const char* op, const Trailing& trailing, const Shape& shape) {
  if (!is_extreme(trailing)) return;
  std::int64_t outputs = 1;
  for (int i = 0; trailing.last_axis && i + 1 < shape.rank(); ++i) outputs *= shape[i];
  require(outputs == 0 || reduced_count(trailing, shape) > 0, op, "no elements to reduce in shape ", shape);
}

}  // namespace

FusedOp::FusedOp(const char* op, Formula formula) : op_(op), formula_(std::move(formula)) {
  const std::vector<int>& outputs = formula_.fused.outputs;
  std::vector<std::size_t> stored;
  reductions_.resize(outputs.size());
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (formula_.trailing[r].kind == Trailing::Kind::none)
      stored.push_back(r);
    else
      reductions_[r] = std::make_unique<const FusedReduction>(formula_.fused, outputs[r]);
  }
  for (std::size_t first = 0; first < stored.size(); first += ops::PointwiseGraph::max_outputs) {
    const std::size_t end = std::min(stored.size(), first + ops::PointwiseGraph::max_outputs);
    std::vector<int> nodes;
    for (std::size_t i = first; i < end; ++i) nodes.push_back(outputs[stored[i]]);
    kernels_.emplace_back(formula_.fused, nodes);
    stored_.emplace_back(stored.begin() + static_cast<std::ptrdiff_t>(first),
                         stored.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

std::string FusedOp::source() const {
  std::string text;
  for (const FusedKernels& kernels : kernels_) text += kernels.source();
  for (const std::unique_ptr<const FusedReduction>& reduction : reductions_)
    if (reduction) text += reduction->source();
  return text;
}

const FusedBackward& FusedOp::backward_for(std::uint32_t wanted) const {
  const std::lock_guard lock(mutex_);
  return backwards_.try_emplace(wanted, op_, formula_, wanted).first->second;
}

std::vector<Tensor> FusedOp::forward(const FusedValues& values) const {
  std::vector<Tensor> results(formula_.trailing.size());
  std::array<Tensor, ops::PointwiseGraph::max_outputs> outputs;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    kernels_[k].run(op_, values, {outputs.data(), stored_[k].size()});
    for (std::size_t i = 0; i < stored_[k].size(); ++i) results[stored_[k][i]] = std::move(outputs[i]);
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Trailing& trailing = formula_.trailing[r];
    if (reductions_[r])
      results[r] = reductions_[r]->run(reduction_of(op_, trailing.kind), values, axes_of(trailing), trailing.keepdim);
  }
  return results;
}

FusedValues FusedOp::values_of(std::span<const FusedArgument> arguments) const {
  FusedValues values{arguments, {}, formula_.trailing, {}};
  const Tensor* first = nullptr;
  for (std::size_t i = 0; i < formula_.fused.tensors.size(); ++i) {
    const Tensor& x = values.tensor(formula_.fused.tensors[i]);
    if (first == nullptr) {
      first = &x;
      values.shape = x.shape();
      values.device = x.device();
    }
    require(x.device() == values.device, op_, "a tensor is on ", x.device(), ", another on ", values.device,
            "; move it with to(device)");
    if (x.shape() != values.shape) values.shape = ops::broadcast_shape(op_, values.shape, x.shape());
  }
  for (const Trailing& trailing : formula_.trailing) check_elements(op_, trailing, values.shape);
  return values;
}

std::vector<Tensor> FusedOp::run(std::span<const FusedArgument> arguments) const {
  const FusedValues values = values_of(arguments);
  std::vector<Tensor> results = forward(values);
  autograd::observe(op_, arguments, results, autograd::unnoted);
  if (!autograd::linked(arguments)) return results;
  std::uint32_t wanted = 0;
  for (std::size_t i = 0; i < formula_.fused.tensors.size(); ++i) {
    const Tensor& x = values.tensor(formula_.fused.tensors[i]);
    if (x.requires_grad() && is_floating(x.dtype())) wanted |= std::uint32_t{1} << i;
  }
  return wanted != 0 ? record(std::move(results), values, wanted) : results;
}

std::vector<Tensor> FusedOp::record(std::vector<Tensor> results, const FusedValues& given, std::uint32_t wanted) const {
  const FusedBackward& backward = backward_for(wanted);
  if (backward.differentiable().empty()) return results;
  FusedValues values = given;
  values.results = results;
  autograd::SavedList saved;
  FusedCall kept(*this, backward, values);
  std::vector<Tensor> inputs, outputs;
  for (const TensorOrigin& origin : formula_.fused.tensors) inputs.push_back(values.tensor(origin));
  for (const std::size_t r : backward.differentiable()) outputs.push_back(results[r]);
  outputs = autograd::record_many(op_, std::move(outputs), inputs,
                                  [kept = std::move(kept)](const autograd::Gradients& gradients, autograd::Needs) {
                                    return kept.gradients(gradients);
                                  });
  saved.give_to(outputs[0]);
  for (std::size_t i = 0; i < outputs.size(); ++i) results[backward.differentiable()[i]] = std::move(outputs[i]);
  return results;
}

FusedCall::FusedCall(const FusedOp& op, const FusedBackward& backward, const FusedValues& values)
    : op_(op.shared_from_this()), backward_(&backward), shape_(values.shape), device_(values.device) {
  const std::vector<std::size_t>& outputs = backward.differentiable();
  for (const TensorOrigin& origin : backward.reads()) {
    if (origin.kind == TensorOrigin::Kind::argument) {
      arguments_.emplace_back(origin.index, values.tensor(origin));
      continue;
    }
    const auto output = std::find(outputs.begin(), outputs.end(), origin.index);
    results_.emplace_back(
        origin.index,
        autograd::SavedResult(values.tensor(origin), output == outputs.end()
                                                         ? autograd::SavedResult::no_output
                                                         : static_cast<std::size_t>(output - outputs.begin())));
  }
  static const Tensor undefined;
  for (const FusedArgument& argument : values.arguments)
    numbers_.push_back(argument.tensor() == nullptr ? argument : FusedArgument(undefined));
  for (const TensorOrigin& origin : op.formula().fused.tensors) shapes_.push_back(values.tensor(origin).shape());
}

std::vector<Tensor> FusedCall::gradients(const autograd::Gradients& of_results) const {
  const std::size_t count = op_->formula().trailing.size();
  std::vector<Tensor> results(count), gradients(count);
  for (std::size_t i = 0; i < of_results.size(); ++i) gradients[backward_->differentiable()[i]] = of_results[i];
  std::vector<FusedArgument> arguments = numbers_;
  for (const auto& [index, saved] : arguments_) arguments[index] = FusedArgument(saved.get());
  for (const auto& [index, saved] : results_) results[index] = saved.get();
  return backward_->run({arguments, shape_, op_->formula().trailing, device_, results, gradients}, shapes_);
}

}  // namespace crisol::detail
