// Threads that read the batches of one epoch into host memory.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "io/host_sample.h"

namespace crisol::io {

/// A batch in host memory, one array for each field.
struct HostBatch {
  std::vector<std::unique_ptr<std::byte[]>> fields;
  std::int64_t count = 0;  ///< Samples.
};

/// The part of an epoch that is left to read.
struct EpochPlan {
  std::vector<std::int64_t> order;  ///< Indices of all samples of the epoch.
  std::vector<Field> fields;
  std::int64_t batch_size = 1;
  std::int64_t first = 0, end = 0;  ///< Batches.
  std::uint64_t seed = 0;           ///< A seed that differs between loaders and between epochs.
  int threads = 1;
};

/// Returns the batches in order, whatever the number of threads. The threads read a few batches ahead of the caller.
class BatchReader {
 public:
  /// `dataset` must outlive the reader.
  BatchReader(const Dataset& dataset, EpochPlan plan);
  ~BatchReader();

  /// The next batch; nothing after the last. With `wait` it waits for the batch. Without `wait` it returns nothing if
  /// the batch is not ready. If reading the batch threw an exception, this call throws it, and so does each later call.
  /// Without `wait` it never throws.
  std::optional<HostBatch> next(bool wait);

 private:
  struct Ready {
    HostBatch batch;
    std::exception_ptr error;
  };

  void work();
  Ready read(std::int64_t batch) const;

  const Dataset& dataset_;
  const EpochPlan plan_;
  const std::int64_t ahead_;  ///< The largest number of batches that are read ahead of the caller.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Ready> ready_;
  std::int64_t next_read_, next_given_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;  ///< The last member, because the threads use all members above.
};

}  // namespace crisol::io
