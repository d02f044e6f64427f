// Weights in another layout than in the file. They are kept from run to run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "crisol/options/rnn.h"
#include "tensor/impl.h"

namespace crisol::onnx {

/// The tensors that a recurrent node makes from its weights. They are kept until a weight is written or replaced. They
/// are not used in runs that record gradients, in dry runs, and in runs that the user captures. A program uses them for
/// weights that it does not compute.
class KeptWeights {
 public:
  /// The weights of each direction, which `make` computes from these tensors. Tensors may be undefined.
  std::vector<RnnWeights> get(const std::vector<Tensor>& tensors, const std::function<std::vector<RnnWeights>()>& make);

 private:
  /// A tensor and the version of its elements. This does not keep the elements alive.
  struct Source {
    Source(const Tensor& tensor);  // NOLINT(google-explicit-constructor): a range of tensors becomes sources.
    bool operator==(const Source& other) const;

    std::weak_ptr<Storage> storage;
    std::uint64_t version = 0;
    std::int64_t offset = 0;
    Shape shape, strides;
  };

  std::mutex mutex_;
  std::vector<Source> sources_;
  std::vector<RnnWeights> weights_;
};

}  // namespace crisol::onnx
