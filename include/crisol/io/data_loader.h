// Batches on a device, prepared beside the training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/dataset.h"
#include "crisol/io/sampler.h"
#include "crisol/named_tensors.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// How a DataLoader cuts a data set into batches.
struct DataLoaderOptions {
  std::int64_t batch_size = 64;  ///< At least 1.
  bool shuffle = false;          ///< Another order each epoch, fixed by seed and epoch on every machine.
  bool drop_last = false;        ///< Leaves out a last batch that is not full.
  std::uint64_t seed = 0;        ///< Of the shuffling, and of Sample::seed().
  int threads = 1;               ///< That read samples; at least 1. Batches do not depend on it.
  std::shared_ptr<const Sampler> sampler = nullptr;  ///< The order of the samples, instead of `shuffle`.
};

/// B samples on the loader's device.
struct Batch {
  std::vector<Tensor> tensors;  ///< One for each field of the data set: (B, …shape of the field).
  Tensor input;                 ///< The first tensor.
  Tensor target;                ///< The second tensor; undefined if the samples have one field.

  /// Number of samples.
  std::int64_t size() const { return input.size(0); }
};

/// A place between two batches.
struct DataPosition {
  std::int64_t epoch = 0;  ///< From 0.
  std::int64_t batch = 0;  ///< The batch of this epoch that comes next.
};

/// Reads samples on threads of its own and moves a batch to the device while the previous one trains.
///
///     io::DataLoader loader(io::TensorDataset({x, y}), {.batch_size = 64, .shuffle = true});
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const io::Batch& batch : loader) train(batch.input, batch.target);
class CRISOL_API DataLoader {
 public:
  class Iterator;
  /// What begin() reaches after the last batch.
  struct End {};

  /// Keeps the data set alive. Throws invalid_argument for a batch size or a number of threads below 1, for a data set
  /// without fields, and for shuffle together with a sampler.
  explicit DataLoader(SharedDataset dataset, const DataLoaderOptions& options = {}, Device device = Device());
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// Batches in an epoch.
  std::int64_t batches() const noexcept;
  /// The data set.
  const Dataset& dataset() const noexcept { return *dataset_; }

  /// Begins an epoch, also in the middle of another one. Throws invalid_argument for a negative epoch, or when `batch`
  /// is not in [0, batches()].
  void start(std::int64_t epoch = 0, std::int64_t batch = 0);
  /// The next batch of the epoch, or false after the last. What Dataset::read throws is thrown here, and what a failed
  /// transfer throws; after that each call throws it again until start().
  bool next(Batch& batch);

  /// `for (const io::Batch& batch : loader)` is one epoch. The first loop is epoch 0, each further loop is the next
  /// epoch. After load_state_dict() the next loop goes on from the loaded position.
  Iterator begin();
  /// Behind the last batch.
  End end() const noexcept { return {}; }

  /// The place behind the batch that next() or a loop gave last.
  DataPosition position() const noexcept;
  /// The position and what determines the batches, for io::Checkpoint::data: the number of samples, the batch size, the
  /// seed, drop_last, and a hash of the order of the current epoch.
  NamedTensors state_dict() const;
  /// Goes on from a position that state_dict() gave. Throws invalid_argument, and changes nothing, when a tensor is
  /// missing or of another kind, or when this loader would give other batches.
  void load_state_dict(const NamedTensors& state);

 private:
  class Worker;

  SharedDataset dataset_;
  DataLoaderOptions options_;
  Device device_;
  std::shared_ptr<const Sampler> sampler_;
  DataPosition next_start_;  ///< Where the next loop begins.
  std::unique_ptr<Worker> worker_;
};

/// Gives the batches of one epoch, once.
class DataLoader::Iterator {
 public:
  /// @cond
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = const Batch*;
  using reference = const Batch&;
  /// @endcond

  /// Used by DataLoader.
  explicit Iterator(DataLoader& loader) : loader_(&loader) { ++*this; }

  /// The batch.
  const Batch& operator*() const noexcept { return batch_; }
  /// The batch.
  const Batch* operator->() const noexcept { return &batch_; }
  /// Goes to the next batch. Throws what DataLoader::next throws.
  Iterator& operator++() {
    batch_ = {};  // The batch's memory is free for the next one.
    more_ = loader_->next(batch_);
    return *this;
  }
  /// Goes to the next batch.
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, End) noexcept { return !iterator.more_; }
  friend bool operator!=(const Iterator& iterator, End) noexcept { return iterator.more_; }

 private:
  DataLoader* loader_;
  Batch batch_;
  bool more_ = false;
};

inline DataLoader::Iterator DataLoader::begin() {
  start(next_start_.epoch, next_start_.batch);
  return Iterator(*this);
}

}  // namespace crisol::io
