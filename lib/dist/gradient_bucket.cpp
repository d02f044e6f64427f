#include "dist/gradient_bucket.h"

#include "crisol/grad_mode.h"
#include "crisol/opencl_interop.h"

namespace crisol::dist {

GradientBucket::GradientBucket(const optim::ArenaLayout& layout, const optim::ArenaLayout::Bucket& bucket,
                               const std::vector<Tensor>& parameters)
    : first_(bucket.first), count_(layout.parameter(bucket.last - 1).end - bucket.range.begin) {
  for (std::size_t i = bucket.first; i < bucket.last; ++i) {
    parameters_.push_back(parameters[i]);
    places_.push_back(layout.parameter(i).begin - bucket.range.begin);
  }
}

Tensor GradientBucket::part_of(std::size_t index) const {
  return flat_.narrow(0, places_[index], parameters_[index].numel()).reshape(parameters_[index].shape());
}

// Whether the gradients lie in one buffer as in the bucket: an optimiser's arena has the same layout.
bool GradientBucket::gradients_are_one_range() const {
  const Tensor first = parameters_[0].grad();
  if (!first.defined()) return false;
  const OpenclBuffer begin = opencl_buffer(first);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (!gradient.defined() || !gradient.is_contiguous()) return false;
    const OpenclBuffer own = opencl_buffer(gradient);
    if (own.memory != begin.memory || own.offset != begin.offset + static_cast<std::size_t>(places_[i]) * sizeof(float))
      return false;
  }
  return true;
}

void GradientBucket::begin() {
  const NoGrad no_grad;
  const Tensor first = parameters_[0].grad();
  const bool in_place = gradients_are_one_range();
  if (in_place) {
    const OpenclBuffer place = opencl_buffer(first);
    if (copies_ || !flat_.defined() || opencl_buffer(flat_).memory != place.memory ||
        opencl_buffer(flat_).offset != place.offset) {
      flat_ = from_opencl(place.memory, {count_}, DType::f32, first.device(), place.offset);
      access_ = std::make_unique<HostAccess>(flat_);
    }
  } else {
    if (!copies_ || !flat_.defined()) {
      flat_ = zeros({count_}, DType::f32, parameters_[0].device());
      access_ = std::make_unique<HostAccess>(flat_);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor gradient = parameters_[i].grad();
      if (gradient.defined())
        part_of(i).copy_from(gradient);
      else
        part_of(i).zero_();
    }
  }
  copies_ = !in_place;
  access_->begin();
}

void GradientBucket::join() {
  const NoGrad no_grad;
  access_->join();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor gradient = parameters_[i].grad();
    if (!gradient.defined()) continue;
    if (copies_)
      gradient.copy_from(part_of(i));
    else
      opencl_buffer_for_writing(gradient);  // Its version changes, although the sums came through another tensor.
  }
}

}  // namespace crisol::dist
