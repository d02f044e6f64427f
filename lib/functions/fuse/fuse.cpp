// Calls of a fused function: finds the op for the types of the arguments.
#include "crisol/fuse.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "autograd/call.h"
#include "base/text.h"
#include "functions/fuse/fused_function.h"

namespace crisol::detail {

// The types of the arguments, a byte for each, their kinds (a number, a tensor without axes, or another tensor), and
// the default dtype. The graph's types depend on nothing else.
struct FusedSignature {
  std::array<DType, FusedFunction::max_arguments> types{};
  std::array<ops::OperandKind, FusedFunction::max_arguments> kinds{};
  std::size_t count = 0;
  DType of_reals = default_dtype();
  bool operator==(const FusedSignature&) const = default;
};

namespace {

using ops::PointwiseGraph;

ops::OperandType type_of(const FusedArgument& argument) {
  if (const Tensor* x = argument.tensor()) return ops::type_of(*x);
  return {argument.value().dtype(), ops::OperandKind::number};
}

FusedSignature signature_of(const char* op, std::span<const FusedArgument> arguments) {
  require(arguments.size() <= FusedFunction::max_arguments, op, arguments.size(), " arguments, at most ",
          FusedFunction::max_arguments, " are possible");
  FusedSignature signature;
  for (const FusedArgument& argument : arguments) {
    require(argument.tensor() == nullptr || argument.tensor()->defined(), op, "argument ", signature.count,
            " is undefined");
    const ops::OperandType type = type_of(argument);
    signature.types[signature.count] = type.dtype;
    signature.kinds[signature.count++] = type.kind;
  }
  return signature;
}

std::vector<ArgumentType> types_of(std::span<const FusedArgument> arguments) {
  std::vector<ArgumentType> types;
  for (const FusedArgument& argument : arguments) types.push_back({argument.tensor() != nullptr, type_of(argument)});
  return types;
}

// Whether backward certainly fits into the limits of one kernel. For each result, backward also reads up to three
// tensors: the gradient, and the result or the elements with their maximum.
bool gradient_fits(const Formula& formula) {
  const std::size_t results = formula.trailing.size();
  std::size_t tensors = formula.fused.tensors.size() + 2 * results;
  for (const Trailing& trailing : formula.trailing) tensors += is_extreme(trailing) ? 1 : 0;
  return tensors <= PointwiseGraph::max_inputs &&
         formula.fused.scalars.size() + 2 * results <= PointwiseGraph::max_scalars;
}

bool same_shapes(const FusedGraph& fused, std::span<const FusedArgument> arguments) {
  const Shape& first = arguments[fused.tensors[0].index].tensor()->shape();
  for (const TensorOrigin& origin : fused.tensors)
    if (arguments[origin.index].tensor()->shape() != first) return false;
  return true;
}

}  // namespace

// The ops of one formula. `all` computes all results. `groups` has one op for each set of tensors on which results
// depend. It is used when tensors have different shapes, because results then differ in shape too. `singles` has one op
// for each result. It is used when backward of all results is too large for one kernel.
struct FusedFunction::Instance {
  struct Group {
    std::uint32_t tensors;
    std::vector<std::size_t> results;
    std::shared_ptr<const FusedOp> op;
  };

  Instance(const char* op, const FusedSignature& types, const Formula& formula)
      : signature(types), all(std::make_shared<FusedOp>(op, formula)), all_with_gradient(gradient_fits(formula)) {
    const std::vector<int>& outputs = formula.fused.outputs;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      const std::uint32_t tensors = tensors_read(formula.fused, outputs[r]);
      std::size_t g = 0;
      while (g < groups.size() && groups[g].tensors != tensors) ++g;
      if (g == groups.size()) groups.push_back({tensors, {}, nullptr});
      groups[g].results.push_back(r);
      if (!all_with_gradient && outputs.size() > 1) singles.push_back({tensors, {r}, nullptr});
    }
    if (groups.size() > 1) make_ops(op, formula, groups);
    make_ops(op, formula, singles);
  }

  std::vector<Tensor> run(std::span<const FusedArgument> arguments) const {
    const FusedGraph& fused = all->formula().fused;
    if (!singles.empty() && autograd::linked(arguments)) return run(singles, arguments);
    return groups.size() == 1 || same_shapes(fused, arguments) ? all->run(arguments) : run(groups, arguments);
  }

  const FusedSignature signature;
  const std::shared_ptr<const FusedOp> all;
  const bool all_with_gradient;
  std::vector<Group> groups, singles;
  const Instance* next = nullptr;

 private:
  static void make_ops(const char* op, const Formula& formula, std::vector<Group>& groups) {
    for (Group& group : groups) {
      std::vector<int> nodes;
      Formula part;
      for (const std::size_t r : group.results) {
        nodes.push_back(formula.fused.outputs[r]);
        part.trailing.push_back(formula.trailing[r]);
      }
      part.fused = extract(formula.fused, nodes);
      group.op = std::make_shared<FusedOp>(op, std::move(part));
    }
  }

  std::vector<Tensor> run(const std::vector<Group>& parts, std::span<const FusedArgument> arguments) const {
    std::vector<Tensor> results(all->formula().trailing.size());
    for (const Group& group : parts) {
      std::vector<Tensor> some = group.op->run(arguments);
      for (std::size_t i = 0; i < some.size(); ++i) results[group.results[i]] = std::move(some[i]);
    }
    return results;
  }
};

FusedFunction::~FusedFunction() {
  for (const Instance* instance = first_; instance != nullptr;) {
    const Instance* next = instance->next;
    delete instance;
    instance = next;
  }
}

const FusedFunction::Instance& FusedFunction::instance_for(const UserFunction& user,
                                                           std::span<const FusedArgument> arguments) {
  const FusedSignature signature = signature_of(op, arguments);
  const auto known = [&]() -> const Instance* {
    const Instance* instance = first_.load(std::memory_order_acquire);
    while (instance != nullptr && instance->signature != signature) instance = instance->next;
    return instance;
  };
  if (const Instance* found = known()) return *found;
  auto made = std::make_unique<Instance>(op, signature, lower(op, types_of(arguments), user(arguments)));
  const std::lock_guard lock(mutex_);
  if (const Instance* found = known()) return *found;
  made->next = first_.load(std::memory_order_relaxed);
  first_.store(made.get(), std::memory_order_release);
  return *made.release();
}

std::vector<Tensor> FusedFunction::run(const UserFunction& user, std::span<const FusedArgument> arguments) {
  return autograd::noted_in_parts([&] { return instance_for(user, arguments).run(arguments); },
                                  [&] { return op_for(user, arguments).run_as_functions(arguments); });
}

const FusedOp& FusedFunction::op_for(const UserFunction& user, std::span<const FusedArgument> arguments) {
  return *instance_for(user, arguments).all;
}

FusedFunction& FusedFunction::behind(Expr (*body)(const Expr*)) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FusedFunction>& function = behind_[body];
  if (function == nullptr) function = std::make_unique<FusedFunction>(op);
  return *function;
}

std::vector<Expr> UserFunction::operator()(std::span<const FusedArgument> arguments) const {
  std::vector<Expr> inputs, results;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_tensor = arguments[i].tensor() != nullptr;
    inputs.push_back(make_expr({.kind = is_tensor ? ExprNode::Kind::tensor : ExprNode::Kind::scalar, .argument = i}));
  }
  body(function, inputs.data(), results);
  return results;
}

std::shared_ptr<FusedFunction> make_fused(const char* op) { return std::make_shared<FusedFunction>(op); }

std::vector<Tensor> run_fused(FusedFunction& fused, FusedBody body, const void* function,
                              const FusedArgument* arguments, std::size_t count) {
  return fused.run({body, function}, {arguments, count});
}

std::string fused_source(FusedFunction& fused, FusedBody body, const void* function, const FusedArgument* arguments,
                         std::size_t count) {
  return fused.op_for({body, function}, {arguments, count}).source();
}

}  // namespace crisol::detail
