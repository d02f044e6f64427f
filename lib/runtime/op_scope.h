// The op that a thread runs. Messages about missing memory and timelines name the op.
#pragma once

#include "base/thread_context.h"

namespace crisol::runtime {

/// The op of the calling thread, or null.
inline const char* current_op() noexcept { return thread_context().op; }

/// While it lives, it names the op that this thread runs, unless an outer scope names an op. The text must live as long
/// as the process.
class OpScope {
 public:
  explicit OpScope(const char* op) noexcept : op_(thread_context().op), outer_(op_) {
    if (outer_ == nullptr) op_ = op;
  }
  ~OpScope() { op_ = outer_; }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

 private:
  const char*& op_;
  const char* outer_;
};

}  // namespace crisol::runtime
