// The data of a Fused: one op for each combination of argument types.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "functions/fuse/fused_op.h"

namespace crisol::detail {

/// The user's function.
struct UserFunction {
  FusedBody body;
  const void* function;

  /// Calls the function with expressions in place of these arguments, and returns its results.
  std::vector<Expr> operator()(std::span<const FusedArgument> arguments) const;
};

/// May be used by several threads. A thread that finds its formula takes no lock.
class FusedFunction {
 public:
  static constexpr std::size_t max_arguments = 15;

  explicit FusedFunction(const char* name) : op(name) {}
  ~FusedFunction();
  FusedFunction(const FusedFunction&) = delete;
  FusedFunction& operator=(const FusedFunction&) = delete;

  std::vector<Tensor> run(const UserFunction& user, std::span<const FusedArgument> arguments);
  /// The op that computes all results.
  const FusedOp& op_for(const UserFunction& user, std::span<const FusedArgument> arguments);

  /// A function that applies this function to the result of `body`. There is one for each body.
  FusedFunction& behind(Expr (*body)(const Expr*));

  const char* const op;

 private:
  struct Instance;
  const Instance& instance_for(const UserFunction& user, std::span<const FusedArgument> arguments);

  std::atomic<const Instance*> first_{nullptr};
  std::mutex mutex_;
  std::map<Expr (*)(const Expr*), std::unique_ptr<FusedFunction>> behind_;
};

}  // namespace crisol::detail
