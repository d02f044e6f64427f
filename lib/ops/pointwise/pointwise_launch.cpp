// From tensors to the launch of pointwise kernels: checks, broadcasting, operands.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/fixed_list.h"
#include "ops/layout/transpose_copy.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/pointwise/pointwise_plan.h"
#include "runtime/dry_run.h"
#include "runtime/op_scope.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using Graph = PointwiseGraph;
using Inputs = PointwiseKernels::Inputs;
using Scalars = PointwiseKernels::Scalars;

using Numbers = FixedList<runtime::KernelArg, Graph::max_scalars>;

// The size of the parameters of a kernel for any strides, in bytes. OpenCL guarantees 1024.
std::size_t parameter_bytes(std::size_t inputs, std::size_t outputs, std::size_t scalars, int rank) {
  const std::size_t lanes = rank > 4 ? 8 : 4;
  return 16 * (inputs + outputs) + 8 * (scalars + 3) + 8 * lanes * (inputs + 2);
}

bool is_flat(const Tensor& x, const Shape& shape) { return x.is_contiguous() && x.shape() == shape; }

Loop loop_of(Inputs inputs, const Tensor& output) {
  FixedList<Shape, Loop::max_operands> strides;
  for (const Tensor* x : inputs) strides.add(broadcast_strides(*x, output.shape()));
  strides.add(output.strides());
  return collapse(output.shape(), strides.span());
}

PointwiseProblem problem_of(const PointwiseKernels& kernels, Inputs inputs, std::span<const Tensor> outputs,
                            bool in_place) {
  PointwiseProblem problem;
  problem.kernels = kernels.number();
  problem.in_place = in_place ? 1 : 0;
  std::uint64_t of_outputs = 0, of_inputs = 0;
  for (const Tensor& y : outputs) of_outputs |= in(y).offset;
  for (const Tensor* x : inputs) of_inputs |= in(*x).offset;
  problem.starts_gpu_vectors = (of_inputs | of_outputs) % PointwiseProblem::gpu_vector == 0 ? 1 : 0;
  problem.outputs_start_cpu_vectors = of_outputs % PointwiseProblem::cpu_vector == 0 ? 1 : 0;
  const Shape& shape = outputs[0].shape();
  const bool flat = is_flat(outputs[0], shape) &&
                    std::all_of(inputs.begin(), inputs.end(), [&](const Tensor* x) { return is_flat(*x, shape); });
  if (flat)  // Most calls end here, and need no search for axes that merge.
    problem.set_flat(shape.numel(), inputs.size() + 1);
  else
    problem.set_loop(loop_of(inputs, outputs[0]));
  return problem;
}

// Whether more axes than a kernel can walk remain after merging.
bool has_too_many_axes(Inputs inputs, const Tensor& output) {
  return output.dim() > runtime::kernel_axes && loop_of(inputs, output).shape.rank() > runtime::kernel_axes;
}

// A launch over tensors. The constructor resolves its kernels, and queues nothing. The tensors must outlive it.
class Launch {
 public:
  Launch(const PointwiseKernels& kernels, Inputs inputs, std::span<const Tensor> outputs, bool in_place);
  void queue(Scalars scalars) const;

 private:
  void queue_slices(Scalars scalars) const;

  const PointwiseKernels& kernels_;
  const Inputs inputs_;
  const std::span<const Tensor> outputs_;
  const bool in_place_;
  std::vector<Contiguous> copies_;
  FixedList<const Tensor*, Graph::max_inputs> read_;  ///< The inputs, or their copies.
  PreparedPtr prepared_;                              ///< Null if there is nothing to launch, or more than one launch.
};

Launch::Launch(const PointwiseKernels& kernels, Inputs inputs, std::span<const Tensor> outputs, bool in_place)
    : kernels_(kernels), inputs_(inputs), outputs_(outputs), in_place_(in_place) {
  const Tensor& first = outputs[0];
  if (first.numel() == 0 || runtime::in_dry_run() || has_too_many_axes(inputs, first)) return;
  const std::size_t scalars = kernels.graph().scalar_count();
  const bool crowded = parameter_bytes(inputs.size(), outputs.size(), scalars, first.dim()) > 1024;
  for (const Tensor* x : inputs) {
    const bool expands = crowded && !is_flat(*x, first.shape());
    if (expands || (!in_place && !x->is_contiguous() && is_worth_transposing(*x))) {
      copies_.reserve(inputs.size());  // Reserves, because the copies must not move later.
      x = &copies_.emplace_back(expands ? expand(*x, first.shape()) : *x).layout();
    }
    read_.add(x);
  }
  const PointwiseProblem problem = problem_of(kernels, read_.span(), outputs, in_place);
  prepared_ = prepare(pointwise_table, problem.key_bytes(inputs.size() + 1), state_of(first));
}

void Launch::queue(Scalars scalars) const {
  if (prepared_ == nullptr) return queue_slices(scalars);
  for (const Contiguous& copy : copies_) copy.filled();
  FixedList<OperandView, Graph::max_inputs + Graph::max_outputs> views;
  for (const Tensor* x : read_.span()) views.add(in(*x));
  for (const Tensor& y : outputs_) views.add(out(y));
  Numbers numbers;
  for (std::size_t i = 0; i < scalars.size(); ++i)
    numbers.add(number_argument(scalars[i], kernels_.graph().scalar_dtype(i)));
  launch(*prepared_, views.span(), numbers.span());
}

// One launch for each index of the shortest axis.
void Launch::queue_slices(Scalars scalars) const {
  if (outputs_[0].numel() == 0 || runtime::in_dry_run()) return;
  const Shape& shape = outputs_[0].shape();
  int axis = -1;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] > 1 && (axis < 0 || shape[i] < shape[axis])) axis = i;
  for (std::int64_t index = 0; index < shape[axis]; ++index) {
    std::vector<Tensor> parts_of_inputs, parts_of_outputs;
    std::vector<const Tensor*> read;
    parts_of_inputs.reserve(inputs_.size());
    for (const Tensor* x : inputs_)
      read.push_back(&parts_of_inputs.emplace_back(select(expand(*x, shape), axis, index)));
    for (const Tensor& y : outputs_) parts_of_outputs.push_back(select(y, axis, index));
    Launch(kernels_, read, parts_of_outputs, in_place_).queue(scalars);
  }
}

Shape joint_shape(const char* op, Inputs inputs) {
  require(!inputs.empty(), op, "at least one tensor must be given");
  Shape shape = inputs[0]->shape();
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i]->shape() != shape) shape = broadcast_shape(op, shape, inputs[i]->shape());
  return shape;
}

}  // namespace

runtime::KernelArg number_argument(const Scalar& value, DType dtype) {
  return with_value_type(dtype, [&](auto number) -> runtime::KernelArg {
    using T = decltype(number);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(value.as_int());
    if constexpr (std::is_same_v<T, double>) return runtime::KernelArg::of_f64(value.as_double());
    return static_cast<float>(value.as_double());
  });
}

bool fits(const Scalar& number, DType type) {
  const bool has_sign = kind_of(type) == DTypeKind::integer;
  // A double does not tell 2^63 - 1 from 2^63.
  if (size_of(type) == 8 && number.dtype() == DType::u64) return !has_sign;
  if (size_of(type) == 8 && !is_floating(number.dtype())) return has_sign || number.as_int() >= 0;
  const double value = number.as_double(), limit = std::ldexp(1.0, dtype_row(type).digits);
  return value >= (has_sign ? -limit : 0) && value < limit;
}

namespace {

std::string in_words(const Scalar& number) {
  if (is_floating(number.dtype())) return concat(number.as_double());
  const std::int64_t whole = number.as_int();
  return number.dtype() == DType::u64 ? concat(static_cast<std::uint64_t>(whole)) : concat(whole);
}

}  // namespace

void PointwiseKernels::check(const char* op, Inputs inputs, Scalars scalars) const {
  require(inputs.size() == graph_.input_count() && scalars.size() == graph_.scalar_count(), op, graph_.input_count(),
          " tensors and ", graph_.scalar_count(), " numbers wanted, ", inputs.size(), " and ", scalars.size(),
          " given");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = *inputs[i];
    require(x.defined(), op, "input ", i, " is undefined");
    if (x.dtype() != graph_.input_dtype(i))
      fail(ErrorCode::invalid_argument, op, "input ", i, " is ", x.dtype(), ", must be ", graph_.input_dtype(i),
           "; convert it with to(dtype)");
    if (&state_of(x) != &state_of(*inputs[0]))
      fail(ErrorCode::invalid_argument, op, "input ", i, " is on ", x.device(), ", input 0 on ", inputs[0]->device(),
           "; move it with to(device)");
  }
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const DType dtype = graph_.scalar_dtype(i);
    if (!is_floating(dtype))
      require(fits(scalars[i], value_type(dtype)), op, "the number ", in_words(scalars[i]), " does not fit ", dtype);
  }
}

void PointwiseKernels::run(const char* op, Inputs inputs, Scalars scalars, std::span<Tensor> outputs) const {
  check(op, inputs, scalars);
  const runtime::OpScope scope(op);
  const Shape shape = joint_shape(op, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = empty(shape, graph_.output_dtype(i), inputs[0]->device());
  Launch(*this, inputs, outputs, false).queue(scalars);
}

void PointwiseKernels::run_into(const char* op, Inputs inputs, Scalars scalars, std::span<const Tensor> outputs) const {
  check(op, inputs, scalars);
  const runtime::OpScope scope(op);
  bool in_place = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& y = outputs[i];
    require(y.defined(), op, "the tensor to be written is undefined");
    if (y.dtype() != graph_.output_dtype(i))
      fail(ErrorCode::invalid_argument, op, "the tensor to be written is ", y.dtype(), ", must be ",
           graph_.output_dtype(i));
    if (i > 0)
      require(y.shape() == outputs[0].shape() && y.strides() == outputs[0].strides(), op,
              "the tensors to be written differ in shape or strides: ", outputs[0].shape(), " and ", y.shape());
    require_no_overlap(op, y);
    for (const Tensor* x : inputs) {
      if (x->device() != y.device())
        fail(ErrorCode::invalid_argument, op, "an input is on ", x->device(), ", the output on ", y.device());
      if (x->shape() != y.shape())
        require(broadcast_shape(op, y.shape(), x->shape()) == y.shape(), op, "shape ", x->shape(),
                " does not broadcast to ", y.shape());
      const Overlap overlap = overlap_of(*x, y);
      require(overlap != Overlap::partial, op, "an input of shape ", x->shape(),
              " and the tensor to be written of shape ", y.shape(),
              " share a part of their elements: writing would change what is still to be read; clone() one");
      in_place = in_place || overlap == Overlap::same;
    }
  }
  Launch(*this, inputs, outputs, in_place).queue(scalars);
}

std::function<void()> PointwiseKernels::prepare(const char* op, const Tensor& x, const Tensor& y) const {
  struct Owned {
    Owned(const PointwiseKernels& kernels, const Tensor& from, const Tensor& to)
        : x(from), y(to), input(&x), launch(kernels, {&input, 1}, {&y, 1}, false) {}

    const Tensor x, y;
    const Tensor* const input;
    const Launch launch;
  };
  const runtime::OpScope scope(op);
  return [op, owned = std::make_shared<const Owned>(*this, x, y)] {
    const runtime::OpScope queues(op);
    owned->launch.queue({});
  };
}

Tensor PointwiseKernels::run_once(const char* op, Inputs inputs, Scalars scalars, const Tensor* into) const {
  if (into != nullptr) {
    const Shape shape = joint_shape(op, inputs);
    require(into->defined(), op, "out is undefined");
    require_dtype(op, "out", *into, graph_.output_dtype(0));
    require_shape(op, "out", *into, shape);
    run_into(op, inputs, scalars, {into, 1});
    return *into;
  }
  Tensor result;
  run(op, inputs, scalars, {&result, 1});
  return result;
}

}  // namespace crisol::ops
