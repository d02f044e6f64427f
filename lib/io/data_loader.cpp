#include "crisol/io/data_loader.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/forked.h"
#include "base/hash.h"
#include "base/text.h"
#include "io/batch_reader.h"
#include "tensor/impl.h"
#include "tensor/named_tensors.h"

namespace crisol::io {

namespace {

// The seed of Sample::seed() for one epoch.
std::uint64_t epoch_seed(std::uint64_t seed, std::int64_t epoch) {
  Hash hash(seed);
  hash.add(static_cast<std::uint64_t>(epoch));
  return hash.value();
}

std::vector<std::int64_t> checked_order(const Sampler& sampler, std::int64_t epoch, std::int64_t samples) {
  std::vector<std::int64_t> order = sampler.order(epoch);
  require(static_cast<std::int64_t>(order.size()) == sampler.size(), "DataLoader", "the sampler's size is ",
          sampler.size(), ", but epoch ", epoch, " has ", order.size(), " indices");
  for (const std::int64_t index : order)
    require(index >= 0 && index < samples, "DataLoader", "the sampler gives index ", index, " in a data set of ",
            samples);
  return order;
}

Shape batch_shape(const Field& field, std::int64_t count) {
  Shape shape = field.shape;
  shape.insert(0, count);
  return shape;
}

}  // namespace

/// What a loader and its loops share.
struct DataLoader::Progress {
  std::mutex mutex;
  DataPosition next_start;  ///< The position at which the next loop begins.
  DataPosition position;    ///< The position of the loop that gave a batch last.
};

/// One epoch: the reader of host batches, and the batch that is being copied to the device.
class DataLoader::Loop {
 public:
  Loop(const SharedDataset& dataset, EpochPlan plan, Device device, std::int64_t epoch,
       std::shared_ptr<Progress> progress)
      : epoch_(epoch),
        end_(plan.end),
        next_(plan.first),
        fields_(plan.fields),
        device_(device),
        dataset_(dataset),
        progress_(std::move(progress)),
        reader_(std::make_unique<BatchReader>(*dataset_, std::move(plan))) {}
  // In a child of fork() the threads do not exist, so the child must not wait for them.
  ~Loop() {
    if (system::forked()) static_cast<void>(reader_.release());
  }

  bool next(Batch& batch) {
    if (!uploaded_) uploaded_ = upload(true);
    if (!uploaded_) return false;
    batch = std::move(*uploaded_);
    ++next_;
    tell_position();
    // The copy of the next batch is queued now, so that it runs while the caller works on this batch. If the next batch
    // is not ready, next() does not wait: waiting would keep the caller from queueing its work.
    uploaded_ = upload(false);
    return true;
  }

  /// The position of the batch that was returned last.
  DataPosition given() const noexcept { return {epoch_, next_ - 1}; }
  /// Makes this loop's position the loader's position.
  void tell_position() {
    const std::lock_guard lock(progress_->mutex);
    progress_->position = next_ < end_ ? DataPosition{epoch_, next_} : progress_->next_start;
  }

 private:
  std::optional<Batch> upload(bool wait) {
    if (error_ != nullptr) {
      if (wait) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::optional<HostBatch> host = reader_->next(wait);
    if (!host) return std::nullopt;
    try {
      Batch batch;
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        const Shape shape = batch_shape(fields_[f], host->count);
        batch.tensors.push_back(upload_beside(std::move(host->fields[f]), shape, fields_[f].dtype, device_));
      }
      batch.input = batch.tensors[0];
      if (batch.tensors.size() > 1) batch.target = batch.tensors[1];
      return batch;
    } catch (...) {
      // This batch is lost, so the epoch ends with the error: in this call, or in the call that would have returned the
      // batch.
      error_ = std::current_exception();
      if (wait) throw;
      return std::nullopt;
    }
  }

  const std::int64_t epoch_, end_;
  std::int64_t next_;  ///< The batch that follows the last given batch.
  const std::vector<Field> fields_;
  const Device device_;
  const SharedDataset dataset_;
  const std::shared_ptr<Progress> progress_;
  std::exception_ptr error_;
  std::optional<Batch> uploaded_;
  std::unique_ptr<BatchReader> reader_;
};

DataLoader::DataLoader(SharedDataset dataset, const DataLoaderOptions& options, Device device)
    : dataset_(std::move(dataset)),
      options_(options),
      device_(device),
      sampler_(options.sampler),
      progress_(std::make_shared<Progress>()) {
  require(options.batch_size > 0, "DataLoader", "batch_size ", options.batch_size, " must be positive");
  require(options.threads > 0, "DataLoader", "threads ", options.threads, " must be positive");
  require(!options.shuffle || sampler_ == nullptr, "DataLoader",
          "shuffle and a sampler were given: both choose the order");
  const std::vector<Field> fields = dataset_->fields();
  require(!fields.empty(), "DataLoader", "the samples have no fields");
  for (const Field& field : fields) checked_bytes("DataLoader", batch_shape(field, options.batch_size), field.dtype);
  if (sampler_ == nullptr && options.shuffle)
    sampler_ = std::make_shared<RandomSampler>(dataset_->size(), options.seed);
  else if (sampler_ == nullptr)
    sampler_ = std::make_shared<SequentialSampler>(dataset_->size());
}

DataLoader::~DataLoader() = default;

std::int64_t DataLoader::batches() const noexcept {
  const std::int64_t samples = sampler_->size(), full = samples / options_.batch_size;
  return full + (!options_.drop_last && samples % options_.batch_size != 0 ? 1 : 0);
}

std::shared_ptr<DataLoader::Loop> DataLoader::make_loop(std::int64_t epoch, std::int64_t batch) {
  system::check_not_forked();
  require(epoch >= 0, "DataLoader", "epoch ", epoch, " is negative");
  require(batch >= 0 && batch <= batches(), "DataLoader", "batch ", batch, " is not in [0, ", batches(), "]");
  EpochPlan plan{checked_order(*sampler_, epoch, dataset_->size()),
                 dataset_->fields(),
                 options_.batch_size,
                 batch,
                 batches(),
                 epoch_seed(options_.seed, epoch),
                 options_.threads};
  auto loop = std::make_shared<Loop>(dataset_, std::move(plan), device_, epoch, progress_);
  {
    const std::lock_guard lock(progress_->mutex);
    progress_->next_start = {epoch + 1, 0};
  }
  loop->tell_position();
  return loop;
}

std::shared_ptr<DataLoader::Loop> DataLoader::begin_loop() {
  std::unique_lock lock(progress_->mutex);
  const DataPosition at = progress_->next_start;
  lock.unlock();
  return make_loop(at.epoch, at.batch);
}

void DataLoader::start(std::int64_t epoch, std::int64_t batch) {
  started_.reset();  // Frees the batches of an unfinished epoch before new batches are read.
  started_ = make_loop(epoch, batch);
}

bool DataLoader::advance(Loop& loop, Batch& batch) {
  system::check_not_forked();
  return loop.next(batch);
}

DataPosition DataLoader::Iterator::position() const { return loop_->given(); }

bool DataLoader::next(Batch& batch) {
  require(started_ != nullptr, "DataLoader", "next() was called before start()");
  return advance(*started_, batch);
}

DataPosition DataLoader::position() const noexcept {
  const std::lock_guard lock(progress_->mutex);
  return progress_->position;
}

NamedTensors DataLoader::state_dict() const { return state_at(position()); }

NamedTensors DataLoader::state_at(const DataPosition& at) const {
  Hash hash;
  for (const std::int64_t index : sampler_->order(at.epoch)) hash.add(static_cast<std::uint64_t>(index));
  return {{"epoch", whole_number(at.epoch)},
          {"batch", whole_number(at.batch)},
          {"samples", whole_number(dataset_->size())},
          {"batch_size", whole_number(options_.batch_size)},
          {"drop_last", whole_number(options_.drop_last ? 1 : 0)},
          {"seed", whole_number(static_cast<std::int64_t>(options_.seed))},
          {"order", whole_number(static_cast<std::int64_t>(hash.value()))}};
}

void DataLoader::load_state_dict(const NamedTensors& state) {
  const auto given = match_state("load_state_dict", state_dict(), state);
  const auto number = [&](const char* name) { return given.at(name).item<std::int64_t>(); };
  const DataPosition at{number("epoch"), number("batch")};
  require(at.epoch >= 0, "load_state_dict", "the loader's epoch is ", at.epoch);
  require(at.batch >= 0 && at.batch < std::max<std::int64_t>(batches(), 1), "load_state_dict", "the loader's batch is ",
          at.batch, ", an epoch has ", batches());
  const NamedTensors own = state_at(at);
  for (const auto& [name, tensor] : own)
    require(tensor.item<std::int64_t>() == number(name.c_str()), "load_state_dict", "the loader's ", name, " is ",
            tensor.item<std::int64_t>(), ", the state was saved with ", number(name.c_str()));
  started_.reset();
  const std::lock_guard lock(progress_->mutex);
  progress_->next_start = progress_->position = at;
}

}  // namespace crisol::io
