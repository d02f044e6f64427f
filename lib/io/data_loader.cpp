#include "crisol/io/data_loader.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "base/forked.h"
#include "base/text.h"
#include "tensor/impl.h"

namespace crisol::io {

namespace {

constexpr std::size_t batches_ahead = 3;

struct HostBatch {
  std::unique_ptr<std::byte[]> input, target;
  std::int64_t count = 0;
};

// Uses only mt19937_64, which gives the same numbers in every library. std::shuffle and the standard distributions may
// differ.
std::vector<std::int64_t> order_of(std::int64_t count, const DataLoaderOptions& options, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (!options.shuffle) return order;
  std::mt19937_64 random(options.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(epoch));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

Shape batch_shape(const Dataset& dataset, std::int64_t count) {
  Shape shape = dataset.input_shape();
  shape.insert(0, count);
  return shape;
}

}  // namespace

/// One epoch: a thread that fills host batches, and the batch that is being copied to the device.
class DataLoader::Worker {
 public:
  Worker(const Dataset& dataset, const DataLoaderOptions& options, Device device, std::int64_t epoch,
         std::int64_t batches)
      : dataset_(dataset),
        options_(options),
        device_(device),
        order_(order_of(dataset.size(), options, epoch)),
        batches_(batches),
        thread_([this] { prepare_all(); }) {}

  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  bool next(Batch& batch) {
    if (!uploaded_) uploaded_ = upload(true);
    if (!uploaded_) return false;
    batch = std::move(*uploaded_);
    // The copy of the next batch is queued now, so that it runs while the caller works on this batch. If the thread has
    // not yet prepared that batch, next() does not wait: waiting would keep the caller from queueing its work.
    uploaded_ = upload(false);
    return true;
  }

 private:
  std::optional<Batch> upload(bool wait) {
    HostBatch host;
    {
      std::unique_lock lock(mutex_);
      if (wait) changed_.wait(lock, [this] { return !ready_.empty() || finished_; });
      if (ready_.empty()) {
        if (wait && error_) std::rethrow_exception(error_);
        return std::nullopt;
      }
      host = std::move(ready_.front());
      ready_.pop_front();
    }
    changed_.notify_all();
    try {
      return Batch{upload_beside(std::move(host.input), batch_shape(dataset_, host.count), DType::f32, device_),
                   upload_beside(std::move(host.target), {host.count}, DType::i64, device_)};
    } catch (...) {
      // This batch is lost, so the epoch ends with the error: now, or at the call that would have returned this batch.
      fail(std::current_exception());
      if (wait) throw;
      return std::nullopt;
    }
  }

  void fail(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      ready_.clear();
      stopped_ = finished_ = true;
    }
    changed_.notify_all();
  }

  HostBatch prepare(std::int64_t batch) const {
    const std::int64_t first = batch * options_.batch_size;
    const std::int64_t count = std::min(options_.batch_size, dataset_.size() - first);
    const std::int64_t size = dataset_.input_shape().numel();
    HostBatch host{std::make_unique<std::byte[]>(static_cast<std::size_t>(count * size) * sizeof(float)),
                   std::make_unique<std::byte[]>(static_cast<std::size_t>(count) * sizeof(std::int64_t)), count};
    auto* input = reinterpret_cast<float*>(host.input.get());
    auto* target = reinterpret_cast<std::int64_t*>(host.target.get());
    for (std::int64_t i = 0; i < count; ++i)
      target[i] = dataset_.read(order_[static_cast<std::size_t>(first + i)], input + i * size);
    return host;
  }

  void prepare_all() {
    try {
      for (std::int64_t i = 0; i < batches_; ++i) {
        HostBatch host = prepare(i);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ready_.size() < batches_ahead || stopped_; });
        if (stopped_) return;
        ready_.push_back(std::move(host));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    changed_.notify_all();
  }

  const Dataset& dataset_;
  const DataLoaderOptions& options_;
  const Device device_;
  const std::vector<std::int64_t> order_;
  const std::int64_t batches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostBatch> ready_;
  bool stopped_ = false, finished_ = false;
  std::exception_ptr error_;
  std::optional<Batch> uploaded_;
  std::thread thread_;  // Last, because it uses all members above.
};

DataLoader::DataLoader(const Dataset& dataset, const DataLoaderOptions& options, Device device)
    : dataset_(dataset), options_(options), device_(device) {
  require(options.batch_size > 0, "DataLoader", "batch_size ", options.batch_size, " must be positive");
}

// The thread of a worker does not exist in a child of fork(), so the child cannot wait for it.
DataLoader::~DataLoader() {
  if (system::forked()) static_cast<void>(worker_.release());
}

std::int64_t DataLoader::batches() const noexcept {
  const std::int64_t full = dataset_.size() / options_.batch_size;
  return full + (!options_.drop_last && dataset_.size() % options_.batch_size != 0 ? 1 : 0);
}

void DataLoader::start(std::int64_t epoch) {
  system::refuse_after_fork();
  worker_.reset();
  worker_ = std::make_unique<Worker>(dataset_, options_, device_, epoch, batches());
}

bool DataLoader::next(Batch& batch) {
  system::refuse_after_fork();
  require(worker_ != nullptr, "DataLoader", "next() was called before start()");
  return worker_->next(batch);
}

}  // namespace crisol::io
