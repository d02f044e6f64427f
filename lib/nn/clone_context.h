// What a running clone() has copied so far.
#pragma once

#include <memory>
#include <unordered_map>

#include "crisol/tensor.h"

namespace crisol::nn {

/// Originals and their copies. A second copy of the same original gives the first copy again, so that ties and shared
/// children are kept.
struct CloneContext {
  std::unordered_map<const void*, std::shared_ptr<void>> states;  ///< States of modules.
  std::unordered_map<const void*, Tensor> tensors;                ///< By TensorImpl.
  std::unordered_map<const void*, Tensor> leaves;                 ///< By the identity that tied parameters share.
  CloneContext* outer = nullptr;                                  ///< That of a clone() during which this one runs.
};

/// The copy that clone() makes of a parameter or buffer; the same tensor if no clone() runs.
Tensor tensor_for_copy(const Tensor& original);

}  // namespace crisol::nn
