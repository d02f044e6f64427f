#include "onnx/ops/network/kept_weights.h"

#include <algorithm>

#include "autograd/call.h"
#include "base/thread_context.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"
#include "tensor/captured_uses.h"

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
  if (autograd::observed(tensors) || runtime::in_dry_run() || !thread_context().program.reads_packed) return make();
  const CapturedUses* const captured = thread_context().submission.uses;
  const auto is_computed = [&](const Tensor& tensor) {
    return tensor.defined() && captured->computes(*tensor.impl()->storage);
  };
  if (captured != nullptr &&
      (!thread_context().program.is_made || std::any_of(tensors.begin(), tensors.end(), is_computed)))
    return make();
  if (captured != nullptr) ++thread_context().program.packed_reads;
  std::vector<Source> sources(tensors.begin(), tensors.end());
  const std::lock_guard lock(mutex_);
  if (weights_.empty() || sources != sources_) {
    const runtime::PauseCapture pause(captured != nullptr);  // A replay only reads the weights.
    weights_ = make();
    sources_ = std::move(sources);
  }
  return weights_;
}

}  // namespace crisol::onnx
