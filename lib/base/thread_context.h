// The ambient state of a thread: everything on which a call of the library depends, except for its arguments. Scopes
// (NoGrad, Autocast, WithPrecision, ForcedVariant, the logs) change it and put it back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/dtype.h"

namespace crisol {

class ProblemLog;
class CapturedUses;
class Trace;
class VariantLog;
struct DrawObserver;
namespace autograd {
class AfterBackward;
class CheckpointFrame;
class Node;
}  // namespace autograd
namespace nn {
struct CloneContext;
}
namespace runtime {
class BorrowedBlocks;
class Capturer;
class DryRun;
}  // namespace runtime

/// A variant that a ForcedVariant requests.
struct ForcedRequest {
  std::string op, variant;
};

/// What happens to the work that the thread queues. It runs at once, unless a member says otherwise.
struct Submission {
  runtime::Capturer* capturer = nullptr;  ///< Captures the work.
  CapturedUses* uses = nullptr;           ///< The storages that the captured work uses.
  runtime::DryRun* dry_run = nullptr;     ///< The innermost dry run, which queues nothing. See runtime/dry_run.h.
  int pauses = 0;                         ///< The number of PauseCapture objects. Each sets the other members aside.
};

/// How a run of a graph gets its weights.
struct ProgramRun {
  /// The thread makes a program of the graph. New tensors of host values are then constants of the program, and kernels
  /// keep packed copies of operands from their first use on.
  bool is_made = false;
  bool reads_packed = true;      ///< Whether kernels may read packed copies that are kept.
  std::size_t packed_reads = 0;  ///< The number of operands that the thread's captures read from packed copies.
  runtime::BorrowedBlocks* borrowed = nullptr;  ///< The thread's innermost object. See runtime/memory/stored_block.h.
};

/// What users request of dispatch, and the logs that are told of its choices.
struct DispatchRequests {
  std::vector<ForcedRequest>* forced = nullptr;  ///< The requests of the thread. The innermost one is the last.
  ProblemLog* problem_log = nullptr;             ///< The innermost log of problems.
  VariantLog* variant_log = nullptr;             ///< The innermost log of choices.
  void* trial = nullptr;                         ///< The innermost trial of dispatch/verification.cpp.
};

/// The settings of the innermost Autocast.
struct AutocastMode {
  bool enabled = false;
  DType dtype = DType::f16;
  bool caches = true;  ///< Whether a parameter's conversion is kept from its second use on.
};

/// The modes of autograd that a user sets.
struct GradModes {
  bool enabled = true;           ///< Whether ops are recorded.
  bool detects_anomaly = false;  ///< Whether the thread has a DetectAnomaly.
  AutocastMode autocast;
};

/// The backward() that runs.
struct BackwardRun {
  autograd::Node* node = nullptr;             ///< The op whose backward function runs.
  autograd::AfterBackward* at_end = nullptr;  ///< The functions that the outermost backward() calls at its end.
  bool in_timeline = false;                   ///< The thread's slices belong to its row for backward.
};

/// How functions save tensors for backward.
struct Saving {
  autograd::CheckpointFrame* checkpoint = nullptr;  ///< The innermost checkpoint() whose function runs.
  DrawObserver* draw_observer = nullptr;  ///< Gets each generator before it draws, so that checkpoint() can draw again.
  const void* overwritten = nullptr;      ///< The storage that an op in place writes next. See autograd/in_place.h.
};

struct ThreadContext {
  static constexpr std::int16_t no_precision = -1;

  std::int16_t precision = no_precision;  ///< A Precision, or no_precision for the precision of the process.
  GradModes grad;
  const char* op = nullptr;  ///< The op that runs. See runtime/op_scope.h.
  Submission submission;
  Trace* trace = nullptr;  ///< Notes the functions that a trace runs. See tensor/trace.h.
  ProgramRun program;
  DispatchRequests dispatch;
  BackwardRun backward;
  Saving saving;
  nn::CloneContext* clone = nullptr;  ///< The innermost clone() of a module.
};

/// The context of the calling thread.
inline ThreadContext& thread_context() noexcept {
  constinit thread_local ThreadContext context;
  return context;
}

}  // namespace crisol
