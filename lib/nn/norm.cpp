#include "crisol/nn/norm.h"

#include "base/text.h"
#include "crisol/functions/norm.h"
#include "nn/repr.h"
#include "runtime/capture/capture.h"
#include "tensor/impl.h"

namespace crisol::nn {

BatchNorm2d::BatchNorm2d(std::int64_t num_features, const BatchNorm2dOptions& options)
    : num_features_(num_features), options_(options) {
  require(num_features > 0, "BatchNorm2d", "num_features ", num_features, " must be positive");
  if (options.affine) {
    weight = ones({num_features});
    bias = zeros({num_features});
  }
  if (options.track_running_stats) {
    running_mean = zeros({num_features});
    running_var = ones({num_features});
    num_batches_tracked = zeros({}, DType::i64);
  }
  register_parameter("weight", weight);
  register_parameter("bias", bias);
  register_buffer("running_mean", running_mean);
  register_buffer("running_var", running_var);
  register_buffer("num_batches_tracked", num_batches_tracked);
}

BatchNormOptions BatchNorm2d::call_options() const {
  BatchNormOptions options;
  options.training = training() || !options_.track_running_stats;
  options.momentum = options_.momentum;
  options.epsilon = options_.eps;
  return options;
}

Tensor BatchNorm2d::forward(const Tensor& x) {
  const Tensor y = batch_norm2d(x, weight, bias, running_mean, running_var, call_options());
  if (training() && num_batches_tracked.defined()) count_batch();
  return y;
}

Tensor BatchNorm2d::operator()(const Tensor& x, const Epilogue& epilogue) {
  if (has_hooks()) return epilogue((*this)(x));
  const Tensor y = batch_norm2d(x, weight, bias, running_mean, running_var, call_options(), epilogue);
  if (training() && num_batches_tracked.defined()) count_batch();
  return y;
}

void BatchNorm2d::count_batch() {
  if (runtime::current_capturer() != nullptr) {  // Each replay must count one more batch.
    num_batches_tracked.add_(1);
    return;
  }
  const auto version = [this] { return num_batches_tracked.impl()->storage->version.load(std::memory_order_relaxed); };
  // Other code wrote this tensor (loaded a state dict) or moved it. So it is read once, which waits for the device.
  if (!counted_.defined() || !counted_.shares_storage_with(num_batches_tracked) || version() != counted_version_) {
    batches_ = num_batches_tracked.item<std::int64_t>();
    counted_ = num_batches_tracked.detach();
  }
  num_batches_tracked.fill_(static_cast<double>(++batches_));
  counted_version_ = version();
}

std::string BatchNorm2d::extra_repr() const {
  return concat(num_features_, ", eps=", options_.eps, ", momentum=", options_.momentum,
                ", affine=", word(options_.affine), ", track_running_stats=", word(options_.track_running_stats));
}

LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  require(normalized_shape.rank() > 0 && normalized_shape.numel() > 0, "LayerNorm", "normalized_shape ",
          normalized_shape, " must have positive sizes");
  if (options.affine) {
    weight = ones(normalized_shape);
    bias = zeros(normalized_shape);
  }
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_shape_, weight, bias, eps_); }

std::string LayerNorm::extra_repr() const {
  return concat(normalized_shape_, ", eps=", eps_, ", affine=", word(weight.defined()));
}

}  // namespace crisol::nn
