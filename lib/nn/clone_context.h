// The copies that a running clone() has made so far.
#pragma once

#include <memory>
#include <unordered_map>

#include "crisol/tensor.h"

namespace crisol::nn {

/// Originals and their copies. A second copy of the same original gives the first copy again, so that ties and shared
/// children are kept.
struct CloneContext {
  std::unordered_map<const void*, std::shared_ptr<void>> states;  ///< States of modules.
  std::unordered_map<const void*, Tensor> tensors;                ///< The key is the TensorImpl.
  std::unordered_map<const void*, Tensor> leaves;  ///< The key is the identity that tied parameters share.
  CloneContext* outer = nullptr;                   ///< The context of the clone() in which this one runs, or null.
};

/// The copy that clone() makes of a parameter or buffer; the same tensor if no clone() runs.
Tensor tensor_for_copy(const Tensor& original);

}  // namespace crisol::nn
