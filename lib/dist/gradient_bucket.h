// Gradients of several parameters that are summed together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crisol/host_access.h"
#include "crisol/tensor.h"
#include "optim/arena_layout.h"

namespace crisol::dist {

/// The gradients of the parameters of a bucket in one flat tensor. Where an optimiser keeps them in its arena, this is
/// a part of the arena, and nothing is copied on the device. Elsewhere it is a tensor of the bucket's own.
class GradientBucket {
 public:
  GradientBucket(const optim::ArenaLayout& layout, const optim::ArenaLayout::Bucket& bucket,
                 const std::vector<Tensor>& parameters);

  std::size_t first() const noexcept { return first_; }
  std::size_t last() const noexcept { return first_ + parameters_.size(); }
  std::int64_t count() const noexcept { return count_; }

  /// Collects the gradients and queues the access of the host. A parameter without a gradient counts as zeros.
  void begin();
  /// What begin() began.
  HostAccess& access() noexcept { return *access_; }
  /// Work of the device that is queued later sees the sums as gradients.
  void join();

 private:
  Tensor part_of(std::size_t index) const;
  bool gradients_are_one_range() const;

  std::size_t first_;
  std::int64_t count_;
  std::vector<Tensor> parameters_;
  std::vector<std::int64_t> places_;  ///< Of the parameters, in elements from the begin of the bucket.
  Tensor flat_;
  bool copies_ = false;  ///< flat_ is the bucket's own.
  std::unique_ptr<HostAccess> access_;
};

}  // namespace crisol::dist
