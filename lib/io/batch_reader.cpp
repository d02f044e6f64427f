#include "io/batch_reader.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace crisol::io {

namespace {

// SplitMix64's finaliser: neighbouring indices give unrelated seeds.
std::uint64_t mixed(std::uint64_t z) noexcept {
  z += golden_ratio;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

BatchReader::BatchReader(const Dataset& dataset, EpochPlan plan)
    : dataset_(dataset),
      plan_(std::move(plan)),
      ahead_(plan_.threads + 2),
      next_read_(plan_.first),
      next_given_(plan_.first) {
  const auto threads = std::min<std::int64_t>(plan_.threads, plan_.end - plan_.first);
  try {
    for (std::int64_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    // The system may refuse further threads. Then the threads that were started do the work.
    if (threads_.empty()) throw;
  }
}

BatchReader::~BatchReader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<HostBatch> BatchReader::next(bool wait) {
  HostBatch batch;
  {
    std::unique_lock lock(mutex_);
    if (next_given_ == plan_.end) return std::nullopt;
    if (wait) changed_.wait(lock, [this] { return ready_.count(next_given_) > 0; });
    const auto found = ready_.find(next_given_);
    if (found == ready_.end()) return std::nullopt;
    if (found->second.error != nullptr) {
      if (!wait) return std::nullopt;
      std::rethrow_exception(found->second.error);
    }
    batch = std::move(found->second.batch);
    ready_.erase(found);
    ++next_given_;
  }
  changed_.notify_all();
  return batch;
}

void BatchReader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || next_read_ == plan_.end || next_read_ < next_given_ + ahead_; });
    if (stopped_ || next_read_ == plan_.end) return;
    const std::int64_t batch = next_read_++;
    lock.unlock();
    Ready ready = read(batch);
    lock.lock();
    if (ready.error != nullptr) next_read_ = plan_.end;  // No batch after this one will be requested.
    ready_.emplace(batch, std::move(ready));
    changed_.notify_all();
  }
}

BatchReader::Ready BatchReader::read(std::int64_t batch) const {
  Ready ready;
  try {
    const std::int64_t first = batch * plan_.batch_size;
    ready.batch.count = std::min(plan_.batch_size, static_cast<std::int64_t>(plan_.order.size()) - first);
    std::vector<std::size_t> sizes;
    for (const Field& field : plan_.fields) {
      sizes.push_back(bytes_of(field));
      ready.batch.fields.push_back(
          std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(ready.batch.count) * sizes.back()));
    }
    std::vector<std::byte*> places(plan_.fields.size());
    for (std::int64_t i = 0; i < ready.batch.count; ++i) {
      const std::int64_t index = plan_.order[static_cast<std::size_t>(first + i)];
      for (std::size_t f = 0; f < places.size(); ++f)
        places[f] = ready.batch.fields[f].get() + static_cast<std::size_t>(i) * sizes[f];
      dataset_.read(index,
                    Sample(plan_.fields, places.data(), mixed(plan_.seed ^ mixed(static_cast<std::uint64_t>(index)))));
    }
  } catch (...) {
    ready = {{}, std::current_exception()};
  }
  return ready;
}

}  // namespace crisol::io
