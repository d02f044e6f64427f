// From tensors to the launch of pointwise kernels: checks, broadcasting, the choice of the kernel, arguments.
#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "dispatch/variant.h"
#include "dispatch/work_split.h"
#include "ops/argument_list.h"
#include "ops/collapse.h"
#include "ops/layout/transpose_copy.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

using Form = PointwiseKernels::Form;
using Graph = PointwiseGraph;

// Operands, strides, scalars, and shape, rank, n, chunk.
using Arguments = ArgumentList<Graph::max_inputs + Graph::max_outputs + Loop::max_operands + Graph::max_scalars + 4>;

struct Problem {
  const PointwiseKernels& kernels;
  PointwiseKernels::Inputs inputs;
  PointwiseKernels::Scalars scalars;
  std::span<const Tensor> outputs;
  bool in_place;
  std::int64_t n;
  Loop loop;  ///< The inputs, then the outputs, which all lie alike.
};

void add_operands(const Problem& problem, Arguments& arguments) {
  for (const Tensor* x : problem.inputs) arguments.add(in(*x));
  for (const Tensor& y : problem.outputs) arguments.add(out(y));
  for (std::size_t i = 0; i < problem.scalars.size(); ++i) {
    const Scalar& value = problem.scalars[i];
    switch (problem.kernels.graph().scalar_dtype(i)) {
      case DType::f32:
      case DType::f16: arguments.add(static_cast<float>(value.as_double())); break;
      case DType::i64: arguments.add(value.as_int()); break;
      default: arguments.add(static_cast<std::int32_t>(value.as_int()));
    }
  }
}

// `rank` axes: those of the loop behind as many of size 1 as that takes, or before them.
void add_axes(const Problem& problem, int rank, bool pad_behind, Arguments& arguments) {
  const auto padded = [&](const Shape& axes, std::int64_t padding) {
    if (pad_behind) return runtime::KernelArg(axes, rank);
    Shape all = Shape::filled(rank - axes.rank(), padding);
    for (const std::int64_t value : axes) all.push_back(value);
    return runtime::KernelArg(all, rank);
  };
  arguments.add(padded(problem.loop.shape, 1));
  for (int k = 0; k < problem.loop.operands; ++k)
    arguments.add(padded(problem.loop.strides[static_cast<std::size_t>(k)], 0));
}

void enqueue(const Problem& problem, Form form, const runtime::NdRange& range, const Arguments& arguments) {
  runtime::DeviceState& device = state_of(problem.outputs[0]);
  runtime::enqueue(device, problem.kernels.kernel(device, form, problem.in_place), range, arguments.data(),
                   arguments.count());
}

const char* refuse_chunks(const Problem&, const DeviceInfo& info) {
  // Oclgrind, which is all types at once, checks them.
  const bool takes = info.type == DeviceType::cpu || info.platform == "Oclgrind";
  return takes ? nullptr : "long chunks for few work-items are for CPUs";
}

// Stores past the caches spare reading what they overwrite, where nobody finds the results in a cache anyway. Results
// begin with whole vectors then.
bool streams(const Problem& problem) {
  const DeviceInfo& info = problem.outputs[0].device().info();
  constexpr std::size_t cached = std::size_t{8} << 20;
  const bool is_large =
      static_cast<std::size_t>(problem.n) * size_of(problem.outputs[0].dtype()) * problem.outputs.size() > cached;
  if (!is_large || info.type != DeviceType::cpu || loop_budget(info) < problem.n) return false;
  return std::all_of(problem.outputs.begin(), problem.outputs.end(),
                     [](const Tensor& y) { return in(y).offset % 16 == 0; });
}

// The outputs' rows are whole vectors, one after another.
bool writes_whole_rows(const Loop& loop) {
  const Shape& strides = loop.strides[static_cast<std::size_t>(loop.operands) - 1];
  std::int64_t step = 1;
  for (int i = loop.shape.rank(); i-- > 0; step *= loop.shape[i])
    if (strides[i] != step) return false;
  return loop.shape.back() % 16 == 0;
}

void run_chunks(const Problem& problem) {
  runtime::DeviceState& device = state_of(problem.outputs[0]);
  const Loop& loop = problem.loop;
  const bool flat = loop.is_flat();
  Arguments arguments;
  add_operands(problem, arguments);
  Form form = streams(problem) ? Form::flat_stream : Form::flat_wide;
  const PointwiseKernels& kernels = problem.kernels;
  const WorkSplit split = split_for_cpu(device, problem.n, kernels.least_chunk(), 16, kernels.loop_rounds());
  if (!flat) {
    const bool streamed = form == Form::flat_stream && split.chunk % 16 == 0 && writes_whole_rows(loop);
    const bool is_short = loop.shape.back() < cpu_vector_width(device);
    const bool deep = loop.shape.rank() > 4;
    form = is_short   ? (deep ? Form::short_rows_8 : Form::short_rows_4)
           : deep     ? Form::rows_8
           : streamed ? Form::rows_stream_4
                      : Form::rows_4;
    add_axes(problem, deep ? 8 : 4, true, arguments);
    arguments.add(std::int32_t{loop.shape.rank()});
  }
  arguments.add(problem.n);
  arguments.add(split.chunk);
  enqueue(problem, form, {{split.items}, {1}}, arguments);
}

constexpr std::int64_t gpu_lanes = 4;

// Every operand begins with a whole vector.
bool is_aligned(const Problem& problem) {
  const auto whole = [](const Tensor& x) { return in(x).offset % gpu_lanes == 0; };
  return std::all_of(problem.outputs.begin(), problem.outputs.end(), whole) &&
         std::all_of(problem.inputs.begin(), problem.inputs.end(), [&](const Tensor* x) { return whole(*x); });
}

// Every row is whole vectors of elements that lie side by side, or are one.
bool has_vector_rows(const Problem& problem) {
  const Loop& loop = problem.loop;
  if (loop.shape.back() % gpu_lanes != 0 || !is_aligned(problem)) return false;
  for (int k = 0; k < loop.operands; ++k) {
    const Shape& strides = loop.strides[static_cast<std::size_t>(k)];
    const std::int64_t step = strides.back();
    if (step != 1 && (step != 0 || k == loop.operands - 1)) return false;
    for (int i = 0; step == 1 && i + 1 < strides.rank(); ++i)
      if (strides[i] % gpu_lanes != 0) return false;
  }
  return true;
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
  const runtime::DeviceState& device = state_of(problem.outputs[0]);
  const std::int64_t vectors = (problem.n + gpu_lanes - 1) / gpu_lanes;
  Arguments arguments;
  add_operands(problem, arguments);
  if (problem.loop.is_flat()) {
    arguments.add(problem.n);
    arguments.add(gpu_lanes);
    enqueue(problem, is_aligned(problem) ? Form::flat_whole_vectors : Form::flat, runtime::flat_range(device, vectors),
            arguments);
    return;
  }
  const int rank = problem.loop.shape.rank(), step = rank <= 2 ? 0 : rank <= 4 ? 1 : 2;
  add_axes(problem, 2 << step, false, arguments);
  arguments.add(problem.n);
  const bool is_small = fits_32_bits(problem.loop);
  if (is_small && has_vector_rows(problem)) {
    enqueue(problem, static_cast<Form>(static_cast<int>(Form::item_vectors_2) + step),
            runtime::flat_range(device, vectors), arguments);
    return;
  }
  const Form first = is_small ? Form::items_2 : Form::items_2_long;
  enqueue(problem, static_cast<Form>(static_cast<int>(first) + step), runtime::flat_range(device, problem.n),
          arguments);
}

constexpr Variant<Problem> variants[] = {{"chunks", refuse_chunks, run_chunks}, {"items", accept_all, run_items}};

// Of a kernel for any strides: OpenCL promises room for 1024.
std::size_t parameter_bytes(std::size_t inputs, std::size_t outputs, std::size_t scalars, int rank) {
  const std::size_t lanes = rank > 4 ? 8 : 4;
  return 16 * (inputs + outputs) + 8 * (scalars + 3) + 8 * lanes * (inputs + 2);
}

void launch(const PointwiseKernels& kernels, PointwiseKernels::Inputs inputs, PointwiseKernels::Scalars scalars,
            std::span<const Tensor> outputs, bool in_place) {
  const Tensor& first = outputs[0];
  const std::int64_t n = first.numel();
  if (n == 0) return;
  std::array<Tensor, Graph::max_inputs> copies;
  std::array<const Tensor*, Graph::max_inputs> operands{};
  std::array<Shape, Loop::max_operands> strides;
  const bool crowded = parameter_bytes(inputs.size(), outputs.size(), scalars.size(), first.dim()) > 1024;
  std::size_t count = 0;
  for (const Tensor* x : inputs) {
    operands[count] = x;
    std::optional<Tensor> copy;
    if (crowded && (!x->is_contiguous() || x->shape() != first.shape()))
      copy = clone(expand(*x, first.shape()));
    else if (!in_place && !x->is_contiguous())
      copy = transposed_copy(*x);
    if (copy) {
      copies[count] = std::move(*copy);
      operands[count] = &copies[count];
    }
    strides[count] = broadcast_strides(*operands[count], first.shape());
    ++count;
  }
  strides[count++] = first.strides();
  const Problem problem{kernels, PointwiseKernels::Inputs(operands.data(), inputs.size()), scalars, outputs, in_place,
                        n,       collapse(first.shape(), {strides.data(), count})};
  choose("pointwise", variants, problem, first.device().info()).run(problem);
}

}  // namespace

void PointwiseKernels::check(const char* op, Inputs inputs, Scalars scalars) const {
  require(inputs.size() == graph_.input_count() && scalars.size() == graph_.scalar_count(), op, graph_.input_count(),
          " tensors and ", graph_.scalar_count(), " numbers wanted, ", inputs.size(), " and ", scalars.size(),
          " given");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = *inputs[i];
    require(x.defined(), op, "input ", i, " is undefined");
    require(x.dtype() == graph_.input_dtype(i), op, "input ", i, " is ", x.dtype(), ", must be ", graph_.input_dtype(i),
            "; convert it with to(dtype)");
    require(&state_of(x) == &state_of(*inputs[0]), op, "input ", i, " is on ", x.device(), ", input 0 on ",
            inputs[0]->device(), "; move it with to(device)");
  }
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const DType dtype = graph_.scalar_dtype(i);
    if (is_floating(dtype)) continue;
    const double value = scalars[i].as_double();
    const double limit = dtype == DType::i64 ? 0x1p63 : 0x1p31;
    require(value >= -limit && value < limit, op, "the number ", value, " does not fit ", dtype);
  }
}

void PointwiseKernels::run(const char* op, Inputs inputs, Scalars scalars, std::span<Tensor> outputs) const {
  check(op, inputs, scalars);
  require(!inputs.empty(), op, "at least one tensor must be given");
  Shape shape = inputs[0]->shape();
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i]->shape() != shape) shape = broadcast_shape(op, shape, inputs[i]->shape());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = empty(shape, graph_.output_dtype(i), inputs[0]->device());
  launch(*this, inputs, scalars, outputs, false);
}

void PointwiseKernels::run_into(const char* op, Inputs inputs, Scalars scalars, std::span<const Tensor> outputs) const {
  check(op, inputs, scalars);
  bool in_place = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& y = outputs[i];
    require(y.defined(), op, "the tensor to be written is undefined");
    require(y.dtype() == graph_.output_dtype(i), op, "the tensor to be written is ", y.dtype(), ", must be ",
            graph_.output_dtype(i));
    require(y.shape() == outputs[0].shape() && y.strides() == outputs[0].strides(), op,
            "the tensors to be written differ in shape or strides: ", outputs[0].shape(), " and ", y.shape());
    require_no_overlap(op, y);
    for (const Tensor* x : inputs) {
      require(x->device() == y.device(), op, "an input is on ", x->device(), ", the output on ", y.device());
      require(broadcast_shape(op, y.shape(), x->shape()) == y.shape(), op, "shape ", x->shape(),
              " does not broadcast to ", y.shape());
      const Overlap overlap = overlap_of(*x, y);
      require(overlap != Overlap::partial, op, "an input of shape ", x->shape(),
              " and the tensor to be written of shape ", y.shape(),
              " share a part of their elements: writing would change what is still to be read; clone() one");
      in_place = in_place || overlap == Overlap::same;
    }
  }
  launch(*this, inputs, scalars, outputs, in_place);
}

}  // namespace crisol::ops
