#include "crisol/nn/norm.h"

#include "base/text.h"
#include "crisol/functions/norm.h"
#include "nn/repr.h"
#include "runtime/capture/capture.h"
#include "tensor/impl.h"

namespace crisol::nn {

namespace {

std::uint64_t version_of(const Tensor& x) { return x.impl()->storage->version.load(std::memory_order_relaxed); }

/// A weight of ones and a bias of zeros, as far as the options want them.
template <class Options>
void make_affine(Parameter& weight, Parameter& bias, const Shape& shape, const Options& options) {
  if (options.affine) weight = ones(shape);
  if (options.affine && options.bias) bias = zeros(shape);
}

}  // namespace

NormBase::NormBase(const char* name, std::int64_t num_features, const BatchNorm2dOptions& options)
    : num_features_(num_features), options_(options) {
  require(num_features > 0, name, "num_features ", num_features, " must be positive");
  make_affine(weight, bias, {num_features}, options);
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

BatchNormOptions NormBase::call_options(double momentum) const {
  BatchNormOptions options;
  options.training = training() || !options_.track_running_stats;
  options.momentum = options_.momentum.value_or(momentum);
  options.epsilon = options_.eps;
  return options;
}

std::int64_t NormBase::batches() {
  const std::uint64_t version = version_of(num_batches_tracked);
  // In this case other code wrote or moved this tensor, for example by loading a state dict. So the tensor is read
  // once, which waits for the device.
  if (!counted_.defined() || !counted_.shares_storage_with(num_batches_tracked) || version != counted_version_) {
    batches_ = num_batches_tracked.item<std::int64_t>();
    counted_ = num_batches_tracked.detach();
    counted_version_ = version;
  }
  return batches_;
}

void NormBase::count_batch() {
  if (!training() || !num_batches_tracked.defined()) return;
  if (runtime::current_capturer() != nullptr) {  // The captured addition counts a batch in each replay.
    num_batches_tracked.add_(1);
    return;
  }
  const std::int64_t count = batches() + 1;
  num_batches_tracked.fill_(static_cast<double>(count));
  batches_ = count;
  counted_version_ = version_of(num_batches_tracked);
}

std::string NormBase::extra_repr() const {
  return concat(num_features_, ", eps=", decimal(options_.eps),
                ", momentum=", options_.momentum ? decimal(*options_.momentum) : "none",
                ", affine=", word(options_.affine), ", bias=", word(bias.defined()),
                ", track_running_stats=", word(options_.track_running_stats));
}

BatchNorm2d::BatchNorm2d(std::int64_t num_features, const BatchNorm2dOptions& options)
    : NormBase("BatchNorm2d", num_features, options) {}

double BatchNorm2d::share_of_batch() {
  if (options().momentum || !training() || !num_batches_tracked.defined()) return 0;
  require(runtime::current_capturer() == nullptr, "BatchNorm2d",
          "without a momentum the layer counts its batches on the host, so its training cannot be captured");
  return 1 / static_cast<double>(batches() + 1);
}

Tensor BatchNorm2d::forward(const Tensor& x) {
  const Tensor y = batch_norm2d(x, weight, bias, running_mean, running_var, call_options(share_of_batch()));
  count_batch();
  return y;
}

Tensor BatchNorm2d::operator()(const Tensor& x, const Epilogue& epilogue) {
  if (has_hooks()) return epilogue((*this)(x));
  const Tensor y = batch_norm2d(x, weight, bias, running_mean, running_var, call_options(share_of_batch()), epilogue);
  count_batch();
  return y;
}

InstanceNorm2d::InstanceNorm2d(std::int64_t num_features, const InstanceNormOptions& options)
    : InstanceNorm2d("InstanceNorm2d", 2, num_features, options) {}

InstanceNorm2d::InstanceNorm2d(const char* name, int axes, std::int64_t num_features,
                               const InstanceNormOptions& options)
    : NormBase(name, num_features,
               {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}),
      name_(name),
      axes_(axes) {}

Tensor InstanceNorm2d::forward(const Tensor& x) {
  require(x.defined() && (x.dim() == axes_ + 1 || x.dim() == axes_ + 2), name_, "the input must have ", axes_ + 1,
          " or ", axes_ + 2, " axes, ", x.defined() ? concat("its shape is ", x.shape()) : "it is undefined");
  const bool single = x.dim() == axes_ + 1;
  const Tensor images = single ? x.unsqueeze(0) : x;
  require(images.size(1) == num_features(), name_, "the input has ", images.size(1), " channels, num_features is ",
          num_features());
  const Tensor y = instance_norm(images, weight, bias, running_mean, running_var, call_options(0));
  return single ? y.squeeze(0) : y;
}

LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  require(normalized_shape.rank() > 0 && normalized_shape.numel() > 0, "LayerNorm", "normalized_shape ",
          normalized_shape, " must have positive sizes");
  make_affine(weight, bias, normalized_shape, options);
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_shape_, weight, bias, eps_); }

std::string LayerNorm::extra_repr() const {
  return concat(normalized_shape_, ", eps=", decimal(eps_), ", elementwise_affine=", word(weight.defined()),
                ", bias=", word(bias.defined()));
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const LayerNormOptions& options)
    : num_groups_(num_groups), num_channels_(num_channels), eps_(options.eps) {
  require(num_groups > 0 && num_channels > 0 && num_channels % num_groups == 0, "GroupNorm", num_channels,
          " channels cannot be divided into ", num_groups, " groups");
  make_affine(weight, bias, {num_channels}, options);
  register_parameter("weight", weight);
  register_parameter("bias", bias);
}

Tensor GroupNorm::forward(const Tensor& x) {
  require(x.defined() && x.dim() >= 2 && x.size(1) == num_channels_, "GroupNorm", "the input must be (N, ",
          num_channels_, ", …), ", x.defined() ? concat("its shape is ", x.shape()) : "it is undefined");
  return group_norm(x, num_groups_, weight, bias, eps_);
}

std::string GroupNorm::extra_repr() const {
  return concat(num_groups_, ", ", num_channels_, ", eps=", decimal(eps_), ", affine=", word(weight.defined()),
                ", bias=", word(bias.defined()));
}

RMSNorm::RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  require(normalized_shape.rank() > 0 && normalized_shape.numel() > 0, "RMSNorm", "normalized_shape ", normalized_shape,
          " must have positive sizes");
  if (options.affine) weight = ones(normalized_shape);
  register_parameter("weight", weight);
}

Tensor RMSNorm::forward(const Tensor& x) { return rms_norm(x, normalized_shape_, weight, eps_); }

std::string RMSNorm::extra_repr() const {
  return concat(normalized_shape_, ", eps=", eps_ ? decimal(*eps_) : "none",
                ", elementwise_affine=", word(weight.defined()));
}

}  // namespace crisol::nn
