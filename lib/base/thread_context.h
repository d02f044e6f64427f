// The ambient state of a thread: everything that a call of the library depends on and that is not one of its arguments.
// Scopes (NoGrad, WithPrecision, ForcedVariant, the records) change it and put it back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crisol {

class ProblemRecord;
class RecordedUses;
class VariantRecord;
namespace runtime {
class Recorder;
}

/// A variant that a ForcedVariant asks for.
struct ForcedRequest {
  std::string op, variant;
};

struct ThreadContext {
  static constexpr std::int16_t no_precision = -1;

  std::int16_t precision = no_precision;  ///< A Precision; without one, that of the process holds.
  bool grad_enabled = true;
  runtime::Recorder* recorder = nullptr;         ///< Records the work that the thread queues.
  int recording_pauses = 0;                      ///< PauseRecording objects of the thread.
  RecordedUses* recorded_uses = nullptr;         ///< The storages that the recorded work uses.
  std::vector<ForcedRequest>* forced = nullptr;  ///< The requests of the thread, the innermost last.
  ProblemRecord* problem_record = nullptr;       ///< The innermost record of problems.
  VariantRecord* variant_record = nullptr;       ///< The innermost record of choices.
  void* trial = nullptr;                         ///< The innermost trial of dispatch/verification.cpp.
};

/// The context of the calling thread.
inline ThreadContext& thread_context() noexcept {
  constinit thread_local ThreadContext context;
  return context;
}

}  // namespace crisol
