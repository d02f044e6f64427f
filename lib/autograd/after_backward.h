// Functions that backward() calls at its end.
#pragma once

#include <utility>
#include <vector>

#include "base/thread_context.h"
#include "crisol/gradients.h"

namespace crisol::autograd {

/// The functions that a backward() calls at its end. A backward() within another one adds to the list of the outer one.
class AfterBackward {
 public:
  AfterBackward() noexcept : is_outer_(current() == nullptr) {
    if (is_outer_) thread_context().backward.at_end = this;
  }
  ~AfterBackward() {
    if (is_outer_) thread_context().backward.at_end = nullptr;
  }
  AfterBackward(const AfterBackward&) = delete;
  AfterBackward& operator=(const AfterBackward&) = delete;

  /// The list of the outermost backward() on this thread, or null.
  static AfterBackward* current() noexcept { return thread_context().backward.at_end; }
  void add(EndOfBackward function) { functions_.push_back(std::move(function)); }

  /// Runs `walk` and then the functions. They get the error if `walk` throws.
  template <class Walk>
  void around(const Walk& walk) {
    try {
      walk();
    } catch (...) {
      call(std::current_exception());
      throw;
    }
    call(nullptr);
  }

 private:
  void call(const std::exception_ptr& error) {
    for (const EndOfBackward& function : std::exchange(functions_, {})) function(error);
  }

  const bool is_outer_;
  std::vector<EndOfBackward> functions_;
};

}  // namespace crisol::autograd
