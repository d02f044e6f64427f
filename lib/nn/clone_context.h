// The copies that a running clone() has made so far.
#pragma once

#include <memory>
#include <unordered_map>

#include "crisol/tensor.h"

namespace crisol::nn {

/// Originals and their copies. If the same original is copied again, the first copy is used, so that ties and shared
/// children are kept.
struct CloneContext {
  std::unordered_map<const void*, std::shared_ptr<void>> states;  ///< States of modules.
  std::unordered_map<const void*, Tensor> tensors;                ///< The key is the TensorImpl.
  std::unordered_map<const void*, Tensor> leaves;  ///< The key is the identity that tied parameters share.
  CloneContext* outer = nullptr;                   ///< The context of the surrounding clone(), or null.
};

/// The copy that clone() makes of a parameter or buffer. The same tensor if no clone() runs.
Tensor tensor_for_copy(const Tensor& original);

}  // namespace crisol::nn
