// A loader that prepares batches on a device while the training runs.
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
  bool shuffle = false;          ///< A new order in each epoch. Seed and epoch determine it, on every machine.
  bool drop_last = false;        ///< Leaves out a last batch that is not full.
  std::uint64_t seed = 0;        ///< Seed of the shuffling and of Sample::seed().
  int threads = 1;               ///< Number of threads that read samples; at least 1. It does not change the batches.
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

/// A position between two batches.
struct DataPosition {
  std::int64_t epoch = 0;  ///< From 0.
  std::int64_t batch = 0;  ///< The batch of this epoch that comes next.
};

/// Reads samples on its own threads, and moves the next batch to the device while the program uses the current one.
///
///     io::DataLoader loader(io::TensorDataset({x, y}), {.batch_size = 64, .shuffle = true});
///     for (int epoch = 0; epoch < 10; ++epoch)
///       for (const io::Batch& batch : loader) train(batch.input, batch.target);
class CRISOL_API DataLoader {
 public:
  class Iterator;
  /// The end of a loop over batches.
  struct End {};

  /// Keeps the data set alive. Throws invalid_argument for a batch size or a number of threads below 1, for a data set
  /// without fields, and for shuffle together with a sampler.
  explicit DataLoader(SharedDataset dataset, const DataLoaderOptions& options = {}, Device device = Device());
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// The number of batches in an epoch.
  std::int64_t batches() const noexcept;
  /// The data set.
  const Dataset& dataset() const noexcept { return *dataset_; }

  /// Starts an epoch at batch number `batch` for next(), even if another epoch is not finished. Throws invalid_argument
  /// for a negative epoch, and if `batch` is not in [0, batches()].
  void start(std::int64_t epoch = 0, std::int64_t batch = 0);
  /// Gives the next batch of the epoch and returns true, or returns false after the last batch. Throws an exception
  /// that Dataset::read threw for this batch, and throws if a transfer failed. Each later call throws the same
  /// exception again, until start().
  bool next(Batch& batch);

  /// `for (const io::Batch& batch : loader)` is one epoch. The first loop is epoch 0, each further loop is the next
  /// epoch. Each loop has its own position and threads, so loops may run at the same time. After load_state_dict() the
  /// next loop goes on from the loaded position.
  Iterator begin();
  /// The end, after the last batch.
  End end() const noexcept { return {}; }

  /// The position after the last batch that next() or a loop gave. If several loops run, it belongs to the loop that
  /// gave the last batch. So save a state while one loop runs.
  DataPosition position() const noexcept;
  /// The state, for io::Checkpoint::data: the position, the number of samples, the batch size, the seed, drop_last, and
  /// a hash of the order of the current epoch.
  NamedTensors state_dict() const;
  /// Continues from a state of state_dict(). Throws invalid_argument, and changes nothing, if a tensor is missing or
  /// has another shape or dtype, or if this loader would give other batches.
  void load_state_dict(const NamedTensors& state);

 private:
  class Loop;
  struct Progress;

  std::shared_ptr<Loop> begin_loop();
  std::shared_ptr<Loop> make_loop(std::int64_t epoch, std::int64_t batch);
  static bool advance(Loop& loop, Batch& batch);
  NamedTensors state_at(const DataPosition& at) const;

  SharedDataset dataset_;
  DataLoaderOptions options_;
  Device device_;
  std::shared_ptr<const Sampler> sampler_;
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<Loop> started_;  ///< The loop that start() began and next() goes through.
};

/// Iterates once over the batches of one epoch. Copies share the position.
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
  explicit Iterator(DataLoader& loader) : loop_(loader.begin_loop()) { ++*this; }

  /// The batch.
  const Batch& operator*() const noexcept { return batch_; }
  /// The batch.
  const Batch* operator->() const noexcept { return &batch_; }
  /// The epoch and the number of the batch.
  CRISOL_API DataPosition position() const;
  /// Goes to the next batch. Throws what DataLoader::next throws.
  Iterator& operator++() {
    batch_ = {};  // This frees the memory of the batch for the next one.
    more_ = advance(*loop_, batch_);
    return *this;
  }
  /// Goes to the next batch.
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, End) noexcept { return !iterator.more_; }
  friend bool operator!=(const Iterator& iterator, End) noexcept { return iterator.more_; }

 private:
  std::shared_ptr<Loop> loop_;
  Batch batch_;
  bool more_ = false;
};

inline DataLoader::Iterator DataLoader::begin() { return Iterator(*this); }

}  // namespace crisol::io
