#include "dist/gradient_bucket.h"

#include "crisol/grad_mode.h"
#include "crisol/opencl_interop.h"

namespace crisol::dist {

GradientBucket::GradientBucket(const optim::ArenaLayout& layout, const optim::ArenaLayout::Bucket& bucket,
                               const std::vector<Tensor>& parameters, DType type)
    : first_(bucket.first), count_(layout.parameter(bucket.last - 1).end - bucket.range.begin), type_(type) {
  for (std::size_t i = bucket.first; i < bucket.last; ++i) {
    parameters_.push_back(parameters[i]);
    places_.push_back(layout.parameter(i).begin - bucket.range.begin);
  }
}

Tensor GradientBucket::part_of(std::size_t index) const {
  return gradients_->flat.narrow(0, places_[index], parameters_[index].numel()).reshape(parameters_[index].shape());
}

// Whether the gradients are one range of a buffer of the sums' type, in the order of the bucket. An optimiser's arena
// has this layout.
bool GradientBucket::gradients_are_one_range() const {
  const Tensor first = parameters_[0].grad();
  if (!first.defined()) return false;
  const OpenclBuffer begin = opencl_buffer(first);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (!gradient.defined() || !gradient.is_contiguous() || gradient.dtype() != type_) return false;
    const OpenclBuffer own = opencl_buffer(gradient);
    if (own.memory != begin.memory ||
        own.offset != begin.offset + static_cast<std::size_t>(places_[i]) * size_of(type_))
      return false;
  }
  return true;
}

const std::shared_ptr<FlatGradients>& GradientBucket::collect() {
  const NoGrad no_grad;
  if (!gradients_are_one_range()) {
    collect_copies();
    return gradients_;
  }
  const Tensor first = parameters_[0].grad();
  const OpenclBuffer place = opencl_buffer(first);
  const OpenclBuffer before = gradients_ == nullptr ? OpenclBuffer{} : opencl_buffer(gradients_->flat);
  if (gradients_ == nullptr || gradients_->copies || before.memory != place.memory || before.offset != place.offset)
    gradients_ = std::make_shared<FlatGradients>(
        from_opencl(place.memory, {count_}, type_, first.device(), place.offset), false);
  return gradients_;
}

void GradientBucket::collect_copies() {
  if (gradients_ == nullptr || !gradients_->copies)
    gradients_ = std::make_shared<FlatGradients>(zeros({count_}, type_, parameters_[0].device()), true);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (gradient.defined())
      part_of(i).copy_from(gradient);
    else
      part_of(i).zero_();
  }
}

std::vector<Tensor> GradientBucket::gradients() const {
  std::vector<Tensor> all;
  for (const Tensor& parameter : parameters_)
    if (const Tensor gradient = parameter.grad(); gradient.defined()) all.push_back(gradient);
  return all;
}

void GradientBucket::queue_copies() const {
  if (!gradients_->copies) return;
  const NoGrad no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (Tensor gradient = parameters_[i].grad(); gradient.defined()) gradient.copy_from(part_of(i));
}

}  // namespace crisol::dist
