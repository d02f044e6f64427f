#include "runtime/dry_run.h"

#include "base/text.h"
#include "runtime/memory/block.h"

namespace crisol::runtime {

namespace {

/// A block without values names this as the op that made its contents.
constexpr char no_op[] = "a dry run";

}  // namespace

DryRun::DryRun() noexcept : outer_(thread_context().submission.dry_run) { thread_context().submission.dry_run = this; }
DryRun::~DryRun() { thread_context().submission.dry_run = outer_; }

void note_no_values(Block& block) noexcept { static_cast<PooledBlock&>(block).set_op(no_op); }

void note_values(Block& block) noexcept {
  if (block.pooled() && static_cast<PooledBlock&>(block).op() == no_op)
    static_cast<PooledBlock&>(block).set_op("from the host");
}

void check_has_values(const Block& block) {
  if (!in_dry_run() || !block.pooled() || static_cast<const PooledBlock&>(block).op() != no_op) return;
  thread_context().submission.dry_run->note_needed_values();
  fail(ErrorCode::invalid_argument, "read", "the values of a tensor are needed, and only sizes are computed");
}

}  // namespace crisol::runtime
