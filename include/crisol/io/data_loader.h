// Batches on a device, prepared beside the training.
#pragma once

#include <cstdint>
#include <memory>

#include "crisol/export.h"
#include "crisol/io/dataset.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// How a DataLoader cuts a data set into batches.
struct DataLoaderOptions {
  std::int64_t batch_size = 64;  ///< At least 1.
  bool shuffle = false;          ///< Another order each epoch, fixed by seed and epoch on every machine.
  bool drop_last = false;        ///< Leaves out a last batch that is not full.
  std::uint64_t seed = 0;        ///< Of the shuffling.
};

/// B samples on the loader's device.
struct Batch {
  Tensor input;   ///< (B, …input shape), f32.
  Tensor target;  ///< (B), i64.
};

/// Reads samples on a thread of its own and moves a batch to the device while the previous one trains.
///
///     loader.start(epoch);
///     for (Batch batch; loader.next(batch);) train(batch);
class CRISOL_API DataLoader {
 public:
  /// The dataset must outlive the loader. Throws invalid_argument for a batch size below 1.
  explicit DataLoader(const Dataset& dataset, const DataLoaderOptions& options = {}, Device device = Device());
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// Batches in an epoch.
  std::int64_t batches() const noexcept;
  /// Begins an epoch from its first batch; also in the middle of another one.
  void start(std::int64_t epoch = 0);
  /// The next batch of the epoch, or false after the last. What Dataset::read throws is thrown here, and what a failed
  /// transfer throws; after that each call throws it again until start().
  bool next(Batch& batch);

 private:
  class Worker;

  const Dataset& dataset_;
  DataLoaderOptions options_;
  Device device_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace crisol::io
