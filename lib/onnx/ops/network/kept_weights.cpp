#include "onnx/ops/network/kept_weights.h"

#include "autograd/node.h"
#include "base/thread_context.h"
#include "runtime/capture/capture.h"

namespace crisol::onnx {

KeptWeights::Source::Source(const Tensor& tensor) {
  if (!tensor.defined()) return;
  const TensorImpl& impl = *tensor.impl();
  storage = impl.storage;
  version = impl.storage->version.load(std::memory_order_relaxed);
  offset = impl.offset;
  shape = impl.shape;
  strides = impl.strides;
}

bool KeptWeights::Source::operator==(const Source& other) const {
  return storage.lock() == other.storage.lock() && version == other.version && offset == other.offset &&
         shape == other.shape && strides == other.strides;
}

std::vector<RnnWeights> KeptWeights::get(const std::vector<Tensor>& tensors,
                                         const std::function<std::vector<RnnWeights>()>& make) {
  const bool is_captured = runtime::current_capturer() != nullptr;
  if (autograd::recording(tensors) || (is_captured && !thread_context().makes_program)) return make();
  std::vector<Source> sources(tensors.begin(), tensors.end());
  const std::lock_guard lock(mutex_);
  if (weights_.empty() || sources != sources_) {
    if (is_captured) return make();  // They depend on inputs of the program.
    weights_ = make();
    sources_ = std::move(sources);
  }
  return weights_;
}

}  // namespace crisol::onnx
