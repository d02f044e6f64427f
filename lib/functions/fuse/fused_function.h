// What a Fused holds: the ops that were recorded for arguments of different types.
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
struct Tracer {
  Trace trace;
  const void* function;

  /// What it gives for expressions that stand for these arguments.
  std::vector<Expr> operator()(std::span<const FusedArgument> arguments) const;
};

/// Safe to use from several threads; one that finds what it needs takes no lock.
class FusedFunction {
 public:
  static constexpr std::size_t max_arguments = 15;

  explicit FusedFunction(const char* name) : op(name) {}
  ~FusedFunction();
  FusedFunction(const FusedFunction&) = delete;
  FusedFunction& operator=(const FusedFunction&) = delete;

  std::vector<Tensor> run(const Tracer& tracer, std::span<const FusedArgument> arguments);
  /// The op of all results together.
  const FusedOp& op_for(const Tracer& tracer, std::span<const FusedArgument> arguments);

  /// This function behind the expression that a body gives: one for each body.
  FusedFunction& behind(Expr (*body)(const Expr*));

  const char* const op;

 private:
  struct Recorded;
  const Recorded& recorded_for(const Tracer& tracer, std::span<const FusedArgument> arguments);

  std::atomic<const Recorded*> first_{nullptr};
  std::mutex mutex_;
  std::map<Expr (*)(const Expr*), std::unique_ptr<FusedFunction>> behind_;
};

}  // namespace crisol::detail
