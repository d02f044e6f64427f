// The average of a bucket's gradients. Each rank gets one part of it.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "crisol/host_access.h"
#include "crisol/tensor.h"
#include "dist/session.h"

namespace crisol::dist {

/// The ranks' weights in the average of a step. Only the worker uses them; empty if they are equal.
using StepWeights = std::shared_ptr<std::vector<double>>;

/// The number of writes to a tensor's memory, or 0 for an undefined tensor.
std::uint64_t version_of(const Tensor& x);

/// One exchange. It begins when the gradients are complete, and runs while the device works.
class PartAverage {
 public:
  /// `flat` has one part for each rank, and holds the elements of `gradients`. An undefined gradient counts as
  /// zeros.
  PartAverage(const Tensor& flat, std::vector<Tensor> gradients, int world);
  /// Queues the exchange of `average`.
  static void begin(const std::shared_ptr<PartAverage>& average, Worker& worker, const StepWeights& weights);
  /// Waits for the exchange, and frees the elements of the other ranks.
  void finish(Worker& worker);
  /// Whether `now` are other tensors than the constructor got, or tensors that were changed since.
  bool is_outdated(const std::vector<Tensor>& now) const;
  /// The part of this rank, after finish().
  const Tensor& own() const noexcept { return own_; }

 private:
  const std::vector<Tensor> gradients_;
  std::vector<std::uint64_t> versions_;
  Tensor own_;
  const std::int64_t part_;
  std::unique_ptr<HostAccess> source_, result_;
  std::future<void> done_;
};

}  // namespace crisol::dist
