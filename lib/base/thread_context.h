// The ambient state of a thread: everything on which a call of the library depends, except for its arguments. Scopes
// (NoGrad, WithPrecision, ForcedVariant, the logs) change it and put it back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crisol {

class ProblemLog;
class CapturedUses;
class Recorder;
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

struct ThreadContext {
  static constexpr std::int16_t no_precision = -1;

  std::int16_t precision = no_precision;  ///< A Precision, or no_precision for the precision of the process.
  bool grad_enabled = true;
  /// Whether the thread makes a program of a graph. Then new tensors of host values are constants of the program, and
  /// packed copies of operands are kept from their first use on.
  bool makes_program = false;
  bool keeps_packed = true;                     ///< Kernels may read packed copies that are kept from call to call.
  std::size_t packed_reads = 0;                 ///< How many operands the thread's captures read from packed copies.
  const char* op = nullptr;                     ///< The op that runs; see runtime/op_scope.h.
  runtime::Capturer* capturer = nullptr;        ///< Captures the work that the thread queues.
  runtime::DryRun* dry_run = nullptr;           ///< The innermost run for sizes alone; see runtime/dry_run.h.
  int capture_pauses = 0;                       ///< The number of the thread's PauseCapture objects.
  CapturedUses* captured_uses = nullptr;        ///< The storages that the captured work uses.
  runtime::BorrowedBlocks* borrowed = nullptr;  ///< The thread's innermost object; see runtime/memory/stored_block.h.
  Recorder* recorder = nullptr;  ///< Records the calls of functions during a trace; see tensor/recorder.h.
  std::vector<ForcedRequest>* forced = nullptr;  ///< The thread's requests, the innermost last.
  ProblemLog* problem_log = nullptr;             ///< The innermost log of problems.
  VariantLog* variant_log = nullptr;             ///< The innermost log of choices.
  void* trial = nullptr;                         ///< The innermost trial of dispatch/verification.cpp.
  bool detects_anomaly = false;                  ///< Whether the thread has a DetectAnomaly.
  autograd::Node* backward_node = nullptr;       ///< The op whose backward function runs.
  const void* overwritten = nullptr;  ///< The storage that an op in place writes next; see autograd/in_place.h.
  /// The innermost checkpoint() whose function runs.
  autograd::CheckpointFrame* checkpoint = nullptr;
  DrawObserver* draw_observer = nullptr;  ///< Gets each generator before the generator draws.
  nn::CloneContext* clone = nullptr;      ///< The innermost clone() of a module.
  std::uint32_t trace_number =
      0;  ///< The number of the thread in timelines, from 1. It is 0 before the thread's first slice.
  bool traces_backward = false;                       ///< The thread's slices belong to its row for backward.
  autograd::AfterBackward* after_backward = nullptr;  ///< Functions that the outermost backward() calls at its end.
};

/// The context of the calling thread.
inline ThreadContext& thread_context() noexcept {
  constinit thread_local ThreadContext context;
  return context;
}

}  // namespace crisol
