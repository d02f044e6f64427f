// The order in which a DataLoader reads samples.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"

namespace crisol::io {

/// Chooses the samples of an epoch and their order.
class CRISOL_API Sampler {
 public:
  virtual ~Sampler();
  /// Number of samples in each epoch.
  virtual std::int64_t size() const = 0;
  /// The indices of the samples of an epoch, size() of them. The same epoch must always give the same indices.
  virtual std::vector<std::int64_t> order(std::int64_t epoch) const = 0;
};

/// 0, 1, … count-1.
class CRISOL_API SequentialSampler : public Sampler {
 public:
  /// Throws invalid_argument for a negative count.
  explicit SequentialSampler(std::int64_t count);
  std::int64_t size() const override { return count_; }
  std::vector<std::int64_t> order(std::int64_t epoch) const override;

 private:
  std::int64_t count_;
};

/// A permutation of 0, 1, … count-1. Seed and epoch determine it, on every machine.
class CRISOL_API RandomSampler : public Sampler {
 public:
  /// Throws invalid_argument for a negative count.
  explicit RandomSampler(std::int64_t count, std::uint64_t seed = 0);
  std::int64_t size() const override { return count_; }
  std::vector<std::int64_t> order(std::int64_t epoch) const override;

 private:
  std::int64_t count_;
  std::uint64_t seed_;
};

}  // namespace crisol::io
