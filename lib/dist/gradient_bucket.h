// Gradients of several parameters that are summed together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crisol/host_access.h"
#include "crisol/tensor.h"
#include "optim/arena_layout.h"

namespace crisol::dist {

/// Gradients in one flat tensor. If an optimiser keeps the gradients in its arena, the tensor is a part of the
/// arena, and the device copies nothing. Otherwise it is a separate tensor, which converts them.
struct FlatGradients {
  FlatGradients(const Tensor& its_flat, bool is_copy) : flat(its_flat), copies(is_copy), access(flat) {}

  const Tensor flat;
  const bool copies;
  HostAccess access;
};

/// The gradients of the parameters of a bucket.
class GradientBucket {
 public:
  /// Sums have the type `type`.
  GradientBucket(const optim::ArenaLayout& layout, const optim::ArenaLayout::Bucket& bucket,
                 const std::vector<Tensor>& parameters, DType type);

  std::size_t first() const noexcept { return first_; }
  std::size_t last() const noexcept { return first_ + parameters_.size(); }
  std::int64_t count() const noexcept { return count_; }

  /// Queues the copies of the present gradients to the flat tensor, and returns it. A captured step keeps the flat
  /// tensor. A parameter without a gradient counts as zeros.
  const std::shared_ptr<FlatGradients>& collect();
  /// The flat tensor that collect() returned last.
  const std::shared_ptr<FlatGradients>& collected() const noexcept { return gradients_; }
  /// The present gradients.
  std::vector<Tensor> gradients() const;
  /// Queues copies from the flat tensor back to the gradients, if collect() copied them.
  void queue_copies() const;

 private:
  Tensor part_of(std::size_t index) const;
  bool gradients_are_one_range() const;
  void collect_copies();

  std::size_t first_;
  std::int64_t count_;
  DType type_;
  std::vector<Tensor> parameters_;
  std::vector<std::int64_t> places_;  ///< Where the parameters begin, in elements from the beginning of the bucket.
  std::shared_ptr<FlatGradients> gradients_;
};

}  // namespace crisol::dist
