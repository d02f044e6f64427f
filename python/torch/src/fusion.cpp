#include "fusion.h"

#include <map>

#include "call.h"
#include "crisol/dtype_table.h"
#include "crisol/fuse.h"

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

std::vector<at::Tensor> Chain::operator()(const std::vector<at::Tensor>& inputs) const {
  TORCH_CHECK_VALUE(inputs.size() == program_->inputs, "crisol: a chain of ", program_->inputs, " tensors got ",
                    inputs.size());
  return guarded([&] {
    std::vector<crisol::Tensor> tensors;
    for (const at::Tensor& x : inputs) tensors.push_back(tensor_of(x));
    const std::vector<crisol::detail::FusedArgument> arguments(tensors.begin(), tensors.end());
    const auto trace = [](const void* program, const Expr* values, std::vector<Expr>& results) {
      static_cast<const Program*>(program)->run(values, results);
    };
    std::vector<at::Tensor> results;
    for (const crisol::Tensor& y :
         crisol::detail::run_fused(*fused_, trace, program_.get(), arguments.data(), arguments.size()))
      results.push_back(wrap(y));
    return results;
  });
}

std::vector<std::string> chain_functions() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions()) names.push_back(name);
  return names;
}

}  // namespace crisol_torch
