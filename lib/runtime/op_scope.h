// The op that a thread runs. Errors without memory and timelines name it.
#pragma once

namespace crisol::runtime {

/// The op of the calling thread, or null.
inline const char*& current_op() noexcept {
  constinit thread_local const char* op = nullptr;
  return op;
}

/// Names the op of this thread while it lives, unless an outer scope names one. The text must live as long as the
/// process.
class OpScope {
 public:
  explicit OpScope(const char* op) noexcept : outer_(current_op()) {
    if (outer_ == nullptr) current_op() = op;
  }
  ~OpScope() { current_op() = outer_; }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

 private:
  const char* outer_;
};

}  // namespace crisol::runtime
