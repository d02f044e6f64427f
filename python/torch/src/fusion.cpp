#include "fusion.h"

#include <map>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/matmul.h"
#include "crisol/ops.h"

namespace crisol_torch {

namespace {

using crisol::Expr;

struct Function {
  std::size_t operands;
  Expr (*call)(const Expr* x);
};

#define CRISOL_COUNT_NONE 0
#define CRISOL_COUNT_ONE(...) 1
#define CRISOL_COUNT_TWO(...) 2
#define CRISOL_CHAIN_NUMBERS_NONE
#define CRISOL_CHAIN_NUMBERS_ONE(...) , x[inputs]
#define CRISOL_CHAIN_NUMBERS_TWO(...) , x[inputs], x[inputs + 1]

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table{
#define CRISOL_UNARY(name, a, scalars, ...)                            \
  {#name, {1 + CRISOL_COUNT_##scalars, [](const Expr* x) {             \
             [[maybe_unused]] constexpr int inputs = 1;                \
             return crisol::name(x[0] CRISOL_CHAIN_NUMBERS_##scalars); \
           }}},
#define CRISOL_BINARY(name, a, b, scalars, ...)                              \
  {#name, {2 + CRISOL_COUNT_##scalars, [](const Expr* x) {                   \
             [[maybe_unused]] constexpr int inputs = 2;                      \
             return crisol::name(x[0], x[1] CRISOL_CHAIN_NUMBERS_##scalars); \
           }}},
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                                \
  {#name, {3 + CRISOL_COUNT_##scalars, [](const Expr* x) {                         \
             [[maybe_unused]] constexpr int inputs = 3;                            \
             return crisol::name(x[0], x[1], x[2] CRISOL_CHAIN_NUMBERS_##scalars); \
           }}},
#include "crisol/ops/pointwise.def"
  };
  return table;
}

std::optional<crisol::DType> type_of(const std::string& name) {
  for (const crisol::DType dtype : crisol::all_dtypes)
    if (name == crisol::dtype_row(dtype).python) return dtype;
  return std::nullopt;
}

constexpr const char* conversion = "to ";

std::vector<crisol::Tensor> tensors_of(const std::vector<at::Tensor>& list) {
  std::vector<crisol::Tensor> tensors;
  for (const at::Tensor& x : list) {
    TORCH_CHECK(x.is_privateuseone(), "crisol: a tensor of a graph is on ", x.device());
    tensors.push_back(tensor_of(x));
  }
  return tensors;
}

std::vector<at::Tensor> wrapped(const std::vector<crisol::Tensor>& list) {
  std::vector<at::Tensor> tensors;
  for (const crisol::Tensor& x : list) tensors.push_back(wrap(x));
  return tensors;
}

}  // namespace

struct Chain::Program {
  std::vector<ChainStep> steps;
  std::vector<std::int64_t> results;
  std::size_t inputs;

  void run(const Expr* arguments, std::vector<Expr>& values_of_results) const {
    std::vector<Expr> values(arguments, arguments + inputs);
    for (const ChainStep& step : steps) {
      std::vector<Expr> operands;
      for (const ChainOperand& one : step.operands)
        operands.push_back(one.value >= 0 ? values[static_cast<std::size_t>(one.value)]
                           : one.whole    ? Expr(static_cast<std::int64_t>(one.number))
                                          : Expr(one.number));
      const bool converts = step.function.rfind(conversion, 0) == 0;
      values.push_back(converts ? operands[0].to(*type_of(step.function.substr(std::string(conversion).size())))
                                : functions().at(step.function).call(operands.data()));
    }
    for (const std::int64_t result : results) values_of_results.push_back(values[static_cast<std::size_t>(result)]);
  }
};

Chain::Chain(std::vector<ChainStep> steps, std::vector<std::int64_t> results, std::size_t inputs)
    : program_(std::make_shared<Program>(Program{std::move(steps), std::move(results), inputs})),
      fused_(crisol::detail::make_fused("torch.compile")) {
  auto known = static_cast<std::int64_t>(inputs);
  for (const ChainStep& step : program_->steps) {
    const bool converts = step.function.rfind(conversion, 0) == 0;
    const auto function = functions().find(step.function);
    TORCH_CHECK_VALUE(converts ? type_of(step.function.substr(std::string(conversion).size())).has_value()
                               : function != functions().end(),
                      "crisol: a chain has no function \"", step.function, "\"");
    const std::size_t wanted = converts ? 1 : function->second.operands;
    TORCH_CHECK_VALUE(step.operands.size() == wanted, "crisol: ", step.function, " in a chain has ", wanted,
                      " operands, not ", step.operands.size());
    for (const ChainOperand& one : step.operands)
      TORCH_CHECK_VALUE(one.value < known, "crisol: a chain reads value ", one.value, " of ", known);
    ++known;
  }
  for (const std::int64_t result : program_->results)
    TORCH_CHECK_VALUE(result >= 0 && result < known, "crisol: a chain returns value ", result, " of ", known);
}

// Appends the results of a program to a list.
void Chain::trace(const void* program, const Expr* values, std::vector<Expr>& results) {
  static_cast<const Program*>(program)->run(values, results);
}

std::vector<at::Tensor> Chain::operator()(const std::vector<at::Tensor>& inputs) const {
  TORCH_CHECK_VALUE(inputs.size() == program_->inputs, "crisol: a chain of ", program_->inputs, " tensors got ",
                    inputs.size());
  return guarded([&] {
    const std::vector<crisol::Tensor> tensors = tensors_of(inputs);
    const std::vector<crisol::detail::FusedArgument> arguments(tensors.begin(), tensors.end());
    return wrapped(crisol::detail::run_fused(*fused_, trace, program_.get(), arguments.data(), arguments.size()));
  });
}

crisol::Epilogue Chain::epilogue(std::vector<crisol::Tensor> others) const {
  std::vector<crisol::Scalar> numbers(others.size(), 0);
  return {fused_, &Chain::trace, program_, std::move(others), std::move(numbers)};
}

Ending::Ending(Op op, std::size_t operands, std::vector<ChainStep> steps, std::size_t inputs, Window window)
    : op_(op),
      operands_(operands),
      inputs_(operands + inputs - 1),
      window_(std::move(window)),
      chain_(steps, {static_cast<std::int64_t>(inputs + steps.size()) - 1}, inputs) {
  const bool may_have_two = op != Op::linear, may_have_three = op != Op::product;
  TORCH_CHECK_VALUE((operands == 2 && may_have_two) || (operands == 3 && may_have_three),
                    "crisol: an op with a chain as its last step does not have ", operands, " operands");
  TORCH_CHECK_VALUE(op != Op::convolution ||
                        (window_.stride.size() == 2 && window_.padding.size() == 2 && window_.dilation.size() == 2),
                    "crisol: a convolution of images has two sizes for each setting");
}

at::Tensor Ending::operator()(const std::vector<at::Tensor>& inputs) const {
  TORCH_CHECK_VALUE(inputs.size() == inputs_, "crisol: an op and its chain of ", inputs_, " tensors got ",
                    inputs.size());
  return guarded([&] {
    const std::vector<crisol::Tensor> tensors = tensors_of(inputs);
    const auto chain_begins = tensors.begin() + static_cast<std::ptrdiff_t>(operands_);
    const crisol::Epilogue epilogue = chain_.epilogue({chain_begins, tensors.end()});
    const crisol::Tensor bias = operands_ == 3 ? tensors[2] : crisol::Tensor();
    switch (op_) {
      case Op::product: return wrap(crisol::matmul(tensors[0], tensors[1], epilogue));
      case Op::linear:
        return wrap(crisol::linear(tensors[0], crisol::ops::transpose(tensors[1], 0, 1), bias, epilogue));
      case Op::convolution: break;
    }
    const auto pair = [](const std::vector<std::int64_t>& sizes) {
      return crisol::IntPair(static_cast<int>(sizes[0]), static_cast<int>(sizes[1]));
    };
    const crisol::Conv2dOptions options{.stride = pair(window_.stride),
                                        .padding = pair(window_.padding),
                                        .dilation = pair(window_.dilation),
                                        .groups = static_cast<int>(window_.groups)};
    return wrap(crisol::conv2d(tensors[0], tensors[1], bias, options, epilogue));
  });
}

CapturedGraph::CapturedGraph(const Function& function, const std::vector<at::Tensor>& inputs,
                             const std::vector<std::size_t>& constants, std::vector<at::Tensor>& results) {
  guarded([&] {
    const std::vector<crisol::Tensor> given = tensors_of(inputs);
    const auto work = [&](const std::vector<crisol::Tensor>& own) {
      std::vector<at::Tensor> tensors;
      for (std::size_t i = 0; i < own.size(); ++i)
        tensors.push_back(own[i].shares_storage_with(given[i]) ? inputs[i] : wrap(own[i]));
      return tensors_of(function(tensors));
    };
    std::vector<crisol::Tensor> first;
    function_ = std::make_shared<crisol::detail::CapturedFunction>(work, given, constants, first);
    results = wrapped(first);
  });
}

std::optional<std::vector<at::Tensor>> CapturedGraph::operator()(const std::vector<at::Tensor>& inputs) const {
  return guarded([&]() -> std::optional<std::vector<at::Tensor>> {
    const auto results = (*function_)(tensors_of(inputs));
    if (!results) return {};
    for (const std::size_t i : function_->written()) inputs[i].unsafeGetTensorImpl()->bump_version();
    return wrapped(*results);
  });
}

std::vector<std::string> chain_functions() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions()) names.push_back(name);
  return names;
}

}  // namespace crisol_torch
