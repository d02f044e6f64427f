// From tensors to the launch of a pointwise program: broadcasting, the choice of the kernel, arguments.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "ops/collapse.h"
#include "ops/pointwise_program.h"
#include "ops/transpose_copy.h"
#include "ops/variant.h"
#include "ops/work_split.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using Form = PointwiseProgram::Form;

// Arguments of a kernel whose number is known at run time only.
class Arguments {
 public:
  Arguments() : list_(filled(std::make_index_sequence<capacity>())) {}
  void add(const runtime::KernelArg& argument) { list_[count_++] = argument; }
  const runtime::KernelArg* data() const noexcept { return list_.data(); }
  std::size_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t capacity = 16;
  template <std::size_t... i>
  static std::array<runtime::KernelArg, capacity> filled(std::index_sequence<i...>) {
    return {((void)i, runtime::KernelArg(std::int32_t{0}))...};
  }

  std::array<runtime::KernelArg, capacity> list_;
  std::size_t count_ = 0;
};

struct Problem {
  const PointwiseProgram& program;
  const Tensor& output;
  PointwiseProgram::Inputs inputs;
  PointwiseProgram::Scalars scalars;
  Loop loop;  ///< The inputs, then the output.
};

void add_operands(const Problem& problem, Arguments& arguments) {
  for (const Tensor* x : problem.inputs) arguments.add(in(*x));
  arguments.add(out(problem.output));
  for (const double value : problem.scalars) {
    switch (problem.program.computed()) {
      case DType::f32: arguments.add(static_cast<float>(value)); break;
      case DType::i64: arguments.add(static_cast<std::int64_t>(value)); break;
      default: arguments.add(static_cast<std::int32_t>(value));
    }
  }
}

// `rank` axes: those of the loop behind as many of size 1 as that takes.
void add_axes(const Problem& problem, int rank, Arguments& arguments) {
  const auto padded = [&](const Shape& axes, std::int64_t front) {
    Shape all = Shape::filled(rank - axes.rank(), front);
    for (const std::int64_t value : axes) all.push_back(value);
    return all;
  };
  arguments.add(padded(problem.loop.shape, 1));
  for (int k = 0; k < problem.loop.operands; ++k)
    arguments.add(padded(problem.loop.strides[static_cast<std::size_t>(k)], 0));
}

void enqueue(runtime::DeviceState& device, runtime::Kernel& kernel, const runtime::NdRange& range,
             const Arguments& arguments) {
  runtime::enqueue(device, kernel, range, arguments.data(), arguments.count());
}

const char* refuse_chunks(const Problem&, const DeviceInfo& info) {
  return info.type == DeviceType::cpu ? nullptr : "long chunks for few work-items are for CPUs";
}

void run_chunks(const Problem& problem) {
  runtime::DeviceState& device = state_of(problem.output);
  const bool flat = problem.loop.is_flat();
  runtime::Kernel& kernel = problem.program.kernel(device, flat ? Form::flat_wide : Form::rows);
  const std::int64_t n = problem.output.numel();
  const WorkSplit split = split_for_cpu(device, n);
  Arguments arguments;
  add_operands(problem, arguments);
  if (!flat) {
    add_axes(problem, problem.loop.shape.rank(), arguments);
    arguments.add(std::int32_t{problem.loop.shape.rank()});
  }
  arguments.add(n);
  arguments.add(split.chunk);
  enqueue(device, kernel, {{split.items}, {1}}, arguments);
}

bool is_aligned(const Problem& problem) {
  const auto whole = [](const Tensor& x) { return in(x).offset % 4 == 0; };
  return whole(problem.output) &&
         std::all_of(problem.inputs.begin(), problem.inputs.end(), [&](const Tensor* x) { return whole(*x); });
}

// Whether every index and offset of the loop stays below 2^32.
bool fits_32_bits(const Loop& loop) {
  const auto limit = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  if (loop.shape.numel() > limit) return false;
  for (int k = 0; k < loop.operands; ++k) {
    std::int64_t last = 0;
    for (int i = 0; i < loop.shape.rank(); ++i)
      last += (loop.shape[i] - 1) * loop.strides[static_cast<std::size_t>(k)][i];
    if (last > limit) return false;
  }
  return true;
}

void run_items(const Problem& problem) {
  runtime::DeviceState& device = state_of(problem.output);
  const std::int64_t n = problem.output.numel();
  Arguments arguments;
  if (problem.loop.is_flat()) {
    constexpr std::int64_t lanes = 4;
    runtime::Kernel& kernel = problem.program.kernel(device, is_aligned(problem) ? Form::flat_aligned : Form::flat);
    add_operands(problem, arguments);
    arguments.add(n);
    arguments.add(lanes);
    enqueue(device, kernel, runtime::flat_range(device, (n + lanes - 1) / lanes), arguments);
    return;
  }
  const int rank = problem.loop.shape.rank();
  const int step = (rank <= 2 ? 0 : rank <= 4 ? 1 : 2) + (fits_32_bits(problem.loop) ? 0 : 3);
  runtime::Kernel& kernel = problem.program.kernel(device, static_cast<Form>(static_cast<int>(Form::items_2) + step));
  add_operands(problem, arguments);
  add_axes(problem, 2 << step % 3, arguments);
  arguments.add(n);
  enqueue(device, kernel, runtime::flat_range(device, n), arguments);
}

constexpr Variant<Problem> variants[] = {{"chunks", refuse_chunks, run_chunks}, {"items", accept_all, run_items}};

}  // namespace

Tensor PointwiseProgram::run(Inputs inputs, Scalars scalars) const {
  check_inputs(inputs);
  Shape shape = inputs[0]->shape();
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i]->shape() != shape) shape = broadcast_shape(op_, shape, inputs[i]->shape());
  Tensor output = empty(shape, output_, inputs[0]->device());
  launch(output, inputs, scalars);
  return output;
}

void PointwiseProgram::run_into(const Tensor& output, Inputs inputs, Scalars scalars) const {
  check_inputs(inputs);
  require(output.defined(), op_, "the tensor to be written is undefined");
  require(output.dtype() == output_, op_, "the tensor to be written is ", output.dtype(), ", must be ", output_);
  require_no_overlap(op_, output);
  for (const Tensor* x : inputs) {
    require(x->device() == output.device(), op_, "an input is on ", x->device(), ", the output on ", output.device());
    require(broadcast_shape(op_, output.shape(), x->shape()) == output.shape(), op_, "shape ", x->shape(),
            " does not broadcast to ", output.shape());
  }
  launch(output, inputs, scalars);
}

void PointwiseProgram::launch(const Tensor& output, Inputs inputs, Scalars scalars) const {
  if (output.numel() == 0) return;
  std::array<Tensor, max_inputs> copies;
  std::array<const Tensor*, max_inputs> operands{};
  std::array<Shape, Loop::max_operands> strides;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    operands[k] = inputs[k];
    if (!inputs[k]->is_contiguous()) {
      if (std::optional<Tensor> copy = turned(*inputs[k])) {
        copies[k] = std::move(*copy);
        operands[k] = &copies[k];
      }
    }
    strides[k] = broadcast_strides(*operands[k], output.shape());
  }
  strides[inputs.size()] = output.strides();
  const Problem problem{*this, output, Inputs(operands.data(), inputs.size()), scalars,
                        collapse(output.shape(), {strides.data(), inputs.size() + 1})};
  choose("pointwise", variants, problem, output.device().info()).run(problem);
}

}  // namespace crisol::ops
