// Runs of functions that queue nothing. They give the sizes of results, or resolve kernels.
#pragma once

#include <cstdint>

#include "base/thread_context.h"

namespace crisol::runtime {

class Block;

/// While it lives, this thread's functions queue no kernels, fills and copies. They check their arguments, allocate
/// memory and upload values of the host as always. A tensor that kernels would have written has no values. Reading it
/// throws invalid_argument, and the dry run notes the read. PauseCapture (runtime/capture/capture.h) pauses dry runs
/// too.
class DryRun {
 public:
  /// Which kernels a dry run looks up and builds. After a dry run with `all`, every launch of the same function finds
  /// its kernels.
  enum class Kernels : std::uint8_t { none, all };

  explicit DryRun(Kernels kernels = Kernels::none) noexcept;
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  /// Whether a function tried to read values that are not there.
  bool needed_values() const noexcept { return needed_values_; }
  bool resolves_kernels() const noexcept { return kernels_ == Kernels::all; }
  void note_needed_values() noexcept { needed_values_ = true; }

 private:
  DryRun* const outer_;
  const Kernels kernels_;
  bool needed_values_ = false;
};

inline bool in_dry_run() noexcept { return thread_context().submission.dry_run != nullptr; }
/// Whether the thread needs no kernels: it is in a dry run that only computes sizes.
inline bool needs_no_kernels() noexcept {
  return in_dry_run() && !thread_context().submission.dry_run->resolves_kernels();
}

/// Says that a new block has no values, because a dry run allocated it.
void note_no_values(Block& block) noexcept;
/// Notes that values of the host are written to the block.
void note_values(Block& block) noexcept;
/// Throws invalid_argument in a dry run for a block without values.
void check_has_values(const Block& block);

}  // namespace crisol::runtime
