#include "functions/fuse/fused_kernels.h"

#include <array>

#include "base/text.h"
#include "ops/pointwise/pointwise_source.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;

// The tensors and numbers of a graph in one call.
struct Operands {
  Operands(const FusedGraph& fused, const FusedValues& values)
      : input_count(fused.tensors.size()), scalar_count(fused.scalars.size()) {
    for (std::size_t i = 0; i < input_count; ++i) inputs_[i] = &values.tensor(fused.tensors[i]);
    for (std::size_t i = 0; i < scalar_count; ++i) scalars_[i] = values.scalar(fused.scalars[i]);
  }

  std::span<const Tensor* const> inputs() const { return {inputs_.data(), input_count}; }
  std::span<const Scalar> scalars() const { return {scalars_.data(), scalar_count}; }

 private:
  template <std::size_t... i>
  static std::array<Scalar, sizeof...(i)> zeros(std::index_sequence<i...>) {
    return {((void)i, Scalar(0))...};
  }

  std::size_t input_count, scalar_count;
  std::array<const Tensor*, PointwiseGraph::max_inputs> inputs_;
  std::array<Scalar, PointwiseGraph::max_scalars> scalars_ =
      zeros(std::make_index_sequence<PointwiseGraph::max_scalars>());
};

PointwiseGraph kernel_of(const FusedGraph& fused) {
  PointwiseGraph graph = fused.graph;
  for (const int output : fused.outputs) graph.output(output);
  return graph;
}

}  // namespace

const Tensor& FusedValues::tensor(const TensorOrigin& origin) const {
  switch (origin.kind) {
    case TensorOrigin::Kind::argument: break;
    case TensorOrigin::Kind::result: return results[origin.index];
    case TensorOrigin::Kind::gradient: return gradients[origin.index];
    case TensorOrigin::Kind::elements: return elements[origin.index];
    case TensorOrigin::Kind::extreme: return extremes[origin.index];
  }
  return *arguments[origin.index].tensor();
}

Scalar FusedValues::scalar(const ScalarOrigin& origin) const {
  switch (origin.kind) {
    case ScalarOrigin::Kind::constant: break;
    case ScalarOrigin::Kind::argument: return arguments[origin.index].value();
    case ScalarOrigin::Kind::count:
      return 1.0 / static_cast<double>(detail::reduced_count(trailing[origin.index], shape));
  }
  return origin.value;
}

std::int64_t reduced_count(const Trailing& trailing, const Shape& shape) {
  return !trailing.last_axis ? shape.numel() : shape.empty() ? 1 : shape.back();
}

FusedKernels::FusedKernels(const FusedGraph& whole, std::span<const int> outputs)
    : fused_(extract(whole, outputs)), kernels_(ops::kernels_of(kernel_of(fused_))) {}

void FusedKernels::run(const char* op, const FusedValues& values, std::span<Tensor> outputs) const {
  const Operands operands(fused_, values);
  kernels_.run(op, operands.inputs(), operands.scalars(), outputs);
}

void FusedKernels::run_into(const char* op, const FusedValues& values, std::span<const Tensor> outputs) const {
  const Operands operands(fused_, values);
  kernels_.run_into(op, operands.inputs(), operands.scalars(), outputs);
}

std::string FusedKernels::source() const {
  return ops::includes_of(fused_.graph) + ops::function_of(kernels_.graph(), "fused", "");
}

FusedReduction::FusedReduction(const FusedGraph& whole, int output)
    : fused_(extract(whole, {&output, 1})), reduction_(kernel_of(fused_)) {}

Tensor FusedReduction::run(const ops::ReduceRule& reduction, const FusedValues& values, const Shape& axes,
                           bool keepdim) const {
  const Operands operands(fused_, values);
  return reduction_.run(reduction, operands.inputs(), operands.scalars(), values.shape, axes, keepdim);
}

ops::ReduceRule reduction_of(const char* op, Trailing::Kind kind) {
  using ops::Combine;
  using ops::ReduceTypes;
  switch (kind) {
    case Trailing::Kind::max: return {op, Combine::max, ReduceTypes::element, "x", "a", true};
    case Trailing::Kind::min: return {op, Combine::min, ReduceTypes::element, "x", "a", true};
    case Trailing::Kind::mean: return {op, Combine::sum, ReduceTypes::floating, "x", "a / count"};
    default: return {op, Combine::sum, ReduceTypes::total};
  }
}

}  // namespace crisol::detail
