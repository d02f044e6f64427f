// Runs of functions that compute only the sizes of their results.
#pragma once

#include "base/thread_context.h"

namespace crisol::runtime {

class Block;

/// While it lives, this thread's functions queue no kernels, fills and copies, and build no kernels of launches. They
/// check their arguments, allocate memory and upload values of the host as always. A tensor that kernels would have
/// written has no values. Reading it throws invalid_argument, and the dry run notes the read. PauseCapture
/// (runtime/capture/capture.h) pauses dry runs too.
class DryRun {
 public:
  DryRun() noexcept;
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  /// Whether a function tried to read values that are not there.
  bool needed_values() const noexcept { return needed_values_; }
  void note_needed_values() noexcept { needed_values_ = true; }

 private:
  DryRun* const outer_;
  bool needed_values_ = false;
};

inline bool in_dry_run() noexcept { return thread_context().submission.dry_run != nullptr; }

/// Says that a new block has no values, because a dry run allocated it.
void note_no_values(Block& block) noexcept;
/// Notes that values of the host are written to the block.
void note_values(Block& block) noexcept;
/// Throws invalid_argument in a dry run for a block without values.
void check_has_values(const Block& block);

}  // namespace crisol::runtime
