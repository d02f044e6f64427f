// The state that all handles of a module share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crisol/nn/module.h"

namespace crisol::nn {

/// Hooks of one kind in the order in which they were added. Each has a number, which removes it.
template <class Hook>
using Hooks = std::vector<std::pair<std::uint64_t, Hook>>;

struct Module::State {
  std::vector<std::pair<std::string, Parameter>> parameters;
  std::vector<std::pair<std::string, Buffer>> buffers;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children;
  std::vector<detail::CopyModule> copy_child;  ///< One for each child. Null if the child is held by a pointer.
  Hooks<ForwardPreHook> pre_hooks;
  Hooks<ForwardHook> hooks;
  Hooks<BackwardHook> backward_hooks;
  ReplacedForward replaced_forward;
  CallWrapper call_wrapper;
  std::uint64_t last_hook = 0;
  bool training = true;
};

/// A parameter or buffer with all its names. Lists show the first name.
struct Module::Entry {
  Tensor tensor;
  std::vector<std::string> names;
};

}  // namespace crisol::nn
