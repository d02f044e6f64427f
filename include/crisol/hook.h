// Functions that backward calls.
#pragma once

#include <functional>
#include <utility>

namespace crisol {

class Tensor;

/// A function that backward calls with a gradient. If it returns another gradient of the same shape, dtype and device,
/// this replaces the gradient. An undefined tensor keeps the gradient.
using GradientHook = std::function<Tensor(const Tensor& gradient)>;

/// Removes a hook. The hook stays if the handle is dropped.
class HookHandle {
 public:
  HookHandle() = default;
  /// Used by the library.
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  /// Removes the hook. Does nothing if the hook was removed before.
  void remove() {
    if (remove_ != nullptr) std::exchange(remove_, nullptr)();
  }

 private:
  std::function<void()> remove_;
};

}  // namespace crisol
