#include "crisol/io/sharded_sampler.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "base/text.h"

namespace crisol::io {

namespace {

constexpr const char* op = "ShardedSampler";

}  // namespace

ShardedSampler::ShardedSampler(std::shared_ptr<const Sampler> order, std::int64_t batch_size, int rank, int world)
    : order_(std::move(order)), batch_size_(batch_size), rank_(rank), world_(world) {
  require(order_ != nullptr, op, "the sampler is null");
  require(world > 0 && rank >= 0 && rank < world, op, "rank ", rank, " of ", world);
  require(batch_size >= world, op, "a batch of ", batch_size, " samples cannot be cut into ", world, " parts");
}

// How many of a batch's samples belong to the first `before` ranks.
std::int64_t ShardedSampler::part(std::int64_t samples, int before) const noexcept { return samples * before / world_; }

std::int64_t ShardedSampler::local_batch_size() const noexcept {
  return part(batch_size_, rank_ + 1) - part(batch_size_, rank_);
}

std::int64_t ShardedSampler::batches() const noexcept { return ceil_div(order_->size(), batch_size_); }

std::int64_t ShardedSampler::size() const {
  const std::int64_t rest = order_->size() % batch_size_;
  return order_->size() / batch_size_ * local_batch_size() + part(rest, rank_ + 1) - part(rest, rank_);
}

std::vector<std::int64_t> ShardedSampler::order(std::int64_t epoch) const {
  const std::vector<std::int64_t> whole = order_->order(epoch);
  const auto count = static_cast<std::int64_t>(whole.size());
  std::vector<std::int64_t> own;
  own.reserve(static_cast<std::size_t>(size()));
  for (std::int64_t first = 0; first < count; first += batch_size_) {
    const std::int64_t samples = std::min(batch_size_, count - first);
    own.insert(own.end(), whole.begin() + first + part(samples, rank_),
               whole.begin() + first + part(samples, rank_ + 1));
  }
  return own;
}

}  // namespace crisol::io
