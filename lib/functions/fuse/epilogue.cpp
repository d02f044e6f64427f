#include "functions/fuse/epilogue.h"

#include <algorithm>
#include <array>

#include "autograd/call.h"
#include "base/byte_dtype.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "functions/fuse/fused_function.h"
#include "tensor/kernel_args.h"

namespace crisol {

using detail::FusedArgument;

std::vector<FusedArgument> Epilogue::arguments(const Tensor& result) const {
  std::vector<FusedArgument> list{FusedArgument(result)};
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    list.push_back(tensors_[i].defined() ? FusedArgument(tensors_[i]) : FusedArgument(numbers_[i]));
  return list;
}

Tensor Epilogue::operator()(const Tensor& result) const {
  const std::vector<FusedArgument> list = arguments(result);
  return detail::run_fused(function(), body(), object(), list.data(), list.size())[0];
}

const Epilogue& relu_epilogue() {
  static const Epilogue& epilogue = *new Epilogue(fuse([](const Expr& x) { return relu(x); }, "relu").epilogue());
  return epilogue;
}

namespace detail {

namespace {

using autograd::Gradients;
using autograd::Needs;
using OperandLayout = ops::EpilogueLayout::Operand;

// Describes how an op's kernel reads another tensor together with its result. Returns nothing if the kernel cannot read
// it.
std::optional<OperandLayout> operand_of(const Tensor& x, const ResultLayout& layout) {
  const Shape& shape = layout.shape;
  if (x.dim() > shape.rank()) return {};
  // Bit i of `has`: the tensor has the result's size along axis i. Bit i of `repeats`: its size there is 1, so it is
  // repeated.
  unsigned has = 0, repeats = 0;
  const int ahead = shape.rank() - x.dim();
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t size = i < ahead ? 1 : x.size(i - ahead);
    if (size == shape[i]) has |= 1u << i;
    if (size == 1) repeats |= 1u << i;
  }
  const unsigned all = (1u << shape.rank()) - 1;
  // Bit masks of axes: `columns` are the axes within a row, `rows` are the axes of the rows of one product, and
  // `products` are the other axes.
  const int last = shape.rank() - 1;
  const bool axis_of_rows = layout.by_channel || layout.by_block;
  const unsigned columns = axis_of_rows ? all & ~3u : 1u << last;
  const unsigned rows = axis_of_rows ? 2u : layout.in_products ? 1u << (last - 1) : all & ~columns;
  const unsigned products = all & ~rows & ~columns;
  std::int64_t row_elements = 1, product_rows = 1;
  for (int i = 0; i <= last; ++i) {
    if ((columns >> i & 1u) != 0) row_elements *= shape[i];
    if ((rows >> i & 1u) != 0) product_rows *= shape[i];
  }
  const auto fits = [&](unsigned with, unsigned without) {
    return (has & with) == with && (repeats & without) == without;
  };
  const auto offset = static_cast<std::int64_t>(in(x).offset % 4);
  if (fits(0, all)) return OperandLayout{0, 0, 0, offset};
  if (layout.by_block) {
    const unsigned lanes = 1u << last, blocks = rows | lanes;
    const std::int64_t block = shape[last];
    if (fits(all, 0)) return OperandLayout{row_elements, 1, row_elements * product_rows, offset};
    if (fits(blocks, all & ~blocks)) return OperandLayout{block, 0, 0, offset};
    if (fits(blocks | products, columns & ~lanes)) return OperandLayout{block, 0, block * product_rows, offset};
    return {};
  }
  if (fits(all, 0)) return OperandLayout{row_elements, 1, row_elements * product_rows, offset};
  if (fits(columns, all & ~columns) && !layout.by_channel) return OperandLayout{0, 1, 0, offset};
  if (fits(rows, all & ~rows)) return OperandLayout{1, 0, 0, offset};
  if (layout.by_channel) return {};
  if (fits(rows | products, columns)) return OperandLayout{1, 0, product_rows, offset};
  if (fits(rows | columns, products)) return OperandLayout{row_elements, 1, 0, offset};
  return {};
}

// The epilogue of one call. Nothing if the kernel cannot apply the formula or cannot read a tensor.
std::optional<ops::ProductEpilogue> for_kernel(const FusedOp& fused, const FusedValues& values,
                                               const ResultLayout& layout) {
  const std::optional<ops::EpilogueLayout>& of_formula = fused.epilogue();
  if (!of_formula) return {};
  ops::ProductEpilogue made{.layout = *of_formula, .operands = {}};
  const FusedGraph& graph = fused.formula().fused;
  for (std::size_t i = 1; i < graph.tensors.size(); ++i) {
    const Tensor& given = *values.arguments[graph.tensors[i].index].tensor();
    const bool are_bytes = is_of_bytes(given.dtype()), converts = are_bytes && !layout.reads_bytes;
    // To convert as many bytes as the result has takes as long as a kernel of its own.
    if (converts && given.numel() == layout.shape.numel()) return {};
    const Tensor x = ops::contiguous(converts ? given.to(DType::f32) : given);
    const std::optional<OperandLayout> operand = operand_of(x, layout);
    if (!operand) return {};
    made.operands[i - 1] = x;
    made.layout.operands[i - 1] = *operand;
  }
  for (std::size_t i = 0; i < graph.scalars.size(); ++i)
    made.scalars[i] = static_cast<float>(values.scalar(graph.scalars[i]).as_double());
  return made;
}

// Bit i says whether the gradient of the formula's tensor i is wanted. The gradient of the product is wanted if one
// of the op's inputs wants a gradient.
std::uint32_t wanted_tensors(const EndingOp& op, const FusedGraph& fused, std::span<const FusedArgument> arguments) {
  std::uint32_t wanted = 0;
  for (std::size_t i = 0; i < fused.tensors.size(); ++i) {
    const std::size_t argument = fused.tensors[i].index;
    const bool wants = argument == 0 ? autograd::linked(op.inputs) : autograd::linked({*arguments[argument].tensor()});
    if (wants) wanted |= std::uint32_t{1} << i;
  }
  return wanted;
}

Tensor record(const EndingOp& op, const FusedOp& fused, const FusedBackward& backward, const FusedValues& values) {
  const std::vector<TensorOrigin>& tensors = fused.formula().fused.tensors;
  std::vector<Tensor> inputs = op.inputs;
  for (std::size_t i = 1; i < tensors.size(); ++i) inputs.push_back(values.tensor(tensors[i]));
  autograd::SavedList saved;
  Tensor result = autograd::record(
      op.name, values.results[0], inputs,
      [kept = FusedCall(fused, backward, values), product = op.backward(), count = op.inputs.size()](const Tensor& dy,
                                                                                                     Needs needs) {
        std::vector<Tensor> of_tensors = kept.gradients({dy});
        Gradients gradients = of_tensors[0].defined() ? product(of_tensors[0], needs) : Gradients(count);
        gradients.insert(gradients.end(), of_tensors.begin() + 1, of_tensors.end());
        return gradients;
      },
      op.order);
  saved.give_to(result);
  return result;
}

// The op and its epilogue in one kernel, if possible.
Tensor run_together(const EndingOp& op, const Epilogue& epilogue) {
  // The result does not exist yet, so the first operand represents it here: both have one type and axes.
  const std::vector<FusedArgument> types = epilogue.arguments(op.inputs[0]);
  const UserFunction user{epilogue.body(), epilogue.object()};
  const FusedOp& fused = epilogue.function().op_for(user, types);
  const FusedGraph& graph = fused.formula().fused;
  require(fused.formula().trailing[0].kind == Trailing::Kind::none, op.name, "an epilogue cannot end in a reduction");
  for (const TensorOrigin& origin : graph.tensors) {
    const Tensor& x = *types[origin.index].tensor();
    require(x.device() == op.inputs[0].device(), op.name, "the epilogue's argument ", origin.index, " is on ",
            x.device(), ", the first operand on ", op.inputs[0].device());
  }

  FusedValues values{types, op.layout.shape, fused.formula().trailing, op.inputs[0].device()};
  const std::optional<ops::ProductEpilogue> kernel = for_kernel(fused, values, op.layout);
  if (!kernel) return epilogue(op.plain());
  const std::uint32_t wanted = wanted_tensors(op, graph, types);
  const FusedBackward* backward = wanted != 0 ? &fused.backward_for(wanted) : nullptr;
  if (backward != nullptr) {
    const std::vector<TensorOrigin>& reads = backward->reads();
    // Backward would need the op's result before the epilogue. The kernel does not store this value, so the op and the
    // epilogue run one after the other.
    if (std::find(reads.begin(), reads.end(), TensorOrigin{}) != reads.end()) return epilogue(op.plain());
  }

  auto [y, has_epilogue] = op.raw(*kernel);
  const std::vector<FusedArgument> arguments = epilogue.arguments(y);
  values.arguments = arguments;
  if (!has_epilogue) y = fused.forward(values)[0];
  autograd::observe(op.name, op.inputs, y, autograd::unnoted);
  if (backward == nullptr || backward->differentiable().empty()) return y;
  values.results = {&y, 1};
  return record(op, fused, *backward, values);
}

}  // namespace

Tensor run_with_epilogue(const EndingOp& op, const Epilogue& epilogue) {
  return autograd::noted_in_parts([&] { return run_together(op, epilogue); }, [&] { return epilogue(op.plain()); });
}

std::optional<ops::ProductEpilogue> function_of_element(const Epilogue& epilogue, const Tensor& like) {
  const std::vector<FusedArgument> arguments = epilogue.arguments(like);
  const FusedOp& fused = epilogue.function().op_for({epilogue.body(), epilogue.object()}, arguments);
  if (fused.formula().fused.tensors.size() > 1) return {};
  const FusedValues values{arguments, like.shape(), fused.formula().trailing, like.device()};
  return for_kernel(fused, values, {.shape = like.shape()});
}

namespace {

// A function that consists of a body and an epilogue. The body takes the first `tensors` arguments. Its value is the
// first argument of the epilogue.
struct Behind {
  Expr (*body)(const Expr*);
  std::size_t tensors, arguments;
  const Epilogue& epilogue;

  static void evaluate(const void* function, const Expr* arguments, std::vector<Expr>& results) {
    const Behind& behind = *static_cast<const Behind*>(function);
    std::vector<Expr> list{behind.body(arguments)};
    list.insert(list.end(), arguments + behind.tensors, arguments + behind.arguments);
    behind.epilogue.body()(behind.epilogue.object(), list.data(), results);
  }
};

}  // namespace

Tensor run_behind(Expr (*body)(const Expr*), const std::vector<Tensor>& tensors, const Epilogue& epilogue) {
  std::vector<FusedArgument> arguments(tensors.begin(), tensors.end());
  const std::vector<FusedArgument> own = epilogue.arguments(tensors[0]);
  arguments.insert(arguments.end(), own.begin() + 1, own.end());
  const Behind behind{body, tensors.size(), arguments.size(), epilogue};
  return epilogue.function().behind(body).run({&Behind::evaluate, &behind}, arguments)[0];
}

}  // namespace detail

}  // namespace crisol
