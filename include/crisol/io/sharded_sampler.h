// The part of the samples that one of several processes reads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/sampler.h"

namespace crisol::io {

/// The samples of one rank of a run of `world` processes (crisol/dist.h). The order of all samples comes from another
/// sampler. Each batch of `batch_size` of them is cut into one part for each rank. So all ranks together read each
/// sample once, and each batch has the samples that one process would read. The loader of a rank takes batches of
/// local_batch_size() samples.
///
///     const auto order = std::make_shared<io::RandomSampler>(samples.size(), seed);
///     const auto own = std::make_shared<io::ShardedSampler>(order, 256, dist::rank(), dist::world());
///     io::DataLoader loader(samples, {.batch_size = own->local_batch_size(), .sampler = own});
///
/// batches() is the same on all ranks. If the last batch has fewer samples than there are ranks, some ranks have no
/// batch for it: see dist::DataParallel::backward_without_samples.
class CRISOL_API ShardedSampler : public Sampler {
 public:
  /// Throws invalid_argument unless 0 <= rank < world <= batch_size.
  ShardedSampler(std::shared_ptr<const Sampler> order, std::int64_t batch_size, int rank, int world);
  std::int64_t size() const override;
  std::vector<std::int64_t> order(std::int64_t epoch) const override;
  /// The samples of this rank in a full batch.
  std::int64_t local_batch_size() const noexcept;
  /// The number of batches of an epoch.
  std::int64_t batches() const noexcept;

 private:
  std::int64_t part(std::int64_t samples, int before) const noexcept;

  std::shared_ptr<const Sampler> order_;
  std::int64_t batch_size_;
  int rank_, world_;
};

}  // namespace crisol::io
