// Tensors that are kept for backward.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "autograd/checkpoint.h"
#include "tensor/impl.h"

namespace crisol::autograd {

/// Lists the tensors that are saved on this thread while it lives and no later list does. The node whose backward
/// function owns them gets the list.
class SavedList {
 public:
  SavedList() noexcept : outer_(std::exchange(current, this)) {}
  ~SavedList() { current = outer_; }
  SavedList(const SavedList&) = delete;
  SavedList& operator=(const SavedList&) = delete;

  /// Adds a tensor to the latest list of the thread, if there is one.
  static void add(const Tensor& saved) {
    if (current != nullptr && saved.impl()->autograd != nullptr) current->tensors_.push_back(saved.impl());
  }
  /// The same for a tensor that is computed again.
  static void add(const Recomputed& saved) {
    if (current != nullptr) current->recomputed_.push_back(saved.place());
  }
  /// Gives the list to the node that made this result.
  void give_to(const Tensor& result);

 private:
  static inline constinit thread_local SavedList* current = nullptr;

  std::vector<std::weak_ptr<TensorImpl>> tensors_;
  std::vector<std::weak_ptr<Recomputed::Place>> recomputed_;
  SavedList* outer_;
};

/// An input of an op, or another tensor that the op did not return. It keeps the tensor's place in the graph, so that a
/// recorded backward function depends on the tensor. It also keeps the version of the elements. Within checkpoint() it
/// does not keep the elements: they are computed again. If Autocast converted a parameter, the object keeps the
/// parameter, and get() converts it again.
class Saved {
 public:
  explicit Saved(const Tensor& tensor);
  /// Throws invalid_argument when the tensor's elements were changed since it was saved.
  const Tensor& get() const;
  /// The tensor, whose elements may be absent, or nullptr if it is undefined.
  const TensorImpl* impl() const noexcept { return tensor_.impl().get(); }

 private:
  mutable Tensor tensor_;
  std::uint64_t version_ = 0;
  Recomputed recomputed_;
  Tensor parameter_;
};

/// A result of the op. The op's node owns this object, so it must not own the node. If the running backward function is
/// recorded, get() gives the tensor a place in the graph, as output `output` of the function's node.
class SavedResult {
 public:
  /// The output of a result that has no gradient.
  static constexpr std::size_t no_output = static_cast<std::size_t>(-1);

  explicit SavedResult(const Tensor& result, std::size_t output = 0) : saved_(result), output_(output) {}
  Tensor get() const;

 private:
  Saved saved_;
  std::size_t output_;
};

}  // namespace crisol::autograd
