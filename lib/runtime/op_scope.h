// The op that a thread runs. Errors without memory and timelines name it.
#pragma once

#include "base/thread_context.h"

namespace crisol::runtime {

/// The op of the calling thread, or null.
inline const char* current_op() noexcept { return thread_context().op; }

/// Names the op of this thread while it lives, unless an outer scope names one. The text must live as long as the
/// process.
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
