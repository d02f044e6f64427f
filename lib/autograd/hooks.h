// The hooks of a tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "crisol/gradients.h"
#include "crisol/tensor.h"

namespace crisol::autograd {

/// A hook that runs after the gradient of a leaf was accumulated. It must not own the leaf, because the leaf owns the
/// slot and the slot owns the hook.
struct LeafHook {
  std::weak_ptr<TensorImpl> leaf;
  std::function<void(const Tensor& leaf)> function;

  Tensor operator()(const Tensor& gradient) const;
};

/// Functions in the order in which they were registered.
class HookList {
 public:
  /// Adds a hook to the list in `place`. If there is no list, makes one. The handle removes the hook.
  static HookHandle add(std::shared_ptr<HookList>& place, GradientHook hook);

  /// Passes a gradient through all hooks. Throws if a hook gives a tensor of another shape, dtype or device. A hook may
  /// add and remove hooks. Such changes take effect at the next run.
  Tensor run(Tensor gradient) const;

  /// Visits the hooks.
  void visit(FunctionVisitor& visitor) const;

 private:
  std::uint64_t last_id_ = 0;
  std::vector<std::pair<std::uint64_t, GradientHook>> hooks_;
};

}  // namespace crisol::autograd
