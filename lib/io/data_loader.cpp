#include "crisol/io/data_loader.h"

#include <algorithm>
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

/// One epoch: the reader of host batches, and the batch that is being copied to the device.
class DataLoader::Worker {
 public:
  Worker(const Dataset& dataset, EpochPlan plan, Device device, std::int64_t epoch)
      : epoch_(epoch),
        next_(plan.first),
        fields_(plan.fields),
        device_(device),
        reader_(std::make_unique<BatchReader>(dataset, std::move(plan))) {}

  bool next(Batch& batch) {
    if (!uploaded_) uploaded_ = upload(true);
    if (!uploaded_) return false;
    batch = std::move(*uploaded_);
    ++next_;
    // The copy of the next batch is queued now, so that it runs while the caller works on this batch. If the next batch
    // is not ready, next() does not wait: waiting would keep the caller from queueing its work.
    uploaded_ = upload(false);
    return true;
  }

  /// The batch that follows the last given batch.
  DataPosition position() const noexcept { return {epoch_, next_}; }

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
      // This batch is lost, so the epoch ends with the error: now, or at the call that would have returned this batch.
      error_ = std::current_exception();
      if (wait) throw;
      return std::nullopt;
    }
  }

  const std::int64_t epoch_;
  std::int64_t next_;
  const std::vector<Field> fields_;
  const Device device_;
  std::exception_ptr error_;
  std::optional<Batch> uploaded_;
  std::unique_ptr<BatchReader> reader_;
};

DataLoader::DataLoader(SharedDataset dataset, const DataLoaderOptions& options, Device device)
    : dataset_(std::move(dataset)), options_(options), device_(device), sampler_(options.sampler) {
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

// The thread of a worker does not exist in a child of fork(), so the child cannot wait for it.
DataLoader::~DataLoader() {
  if (system::forked()) static_cast<void>(worker_.release());
}

std::int64_t DataLoader::batches() const noexcept {
  const std::int64_t samples = sampler_->size(), full = samples / options_.batch_size;
  return full + (!options_.drop_last && samples % options_.batch_size != 0 ? 1 : 0);
}

void DataLoader::start(std::int64_t epoch, std::int64_t batch) {
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
  worker_.reset();  // The batches of an unfinished epoch go before new ones are read.
  worker_ = std::make_unique<Worker>(*dataset_, std::move(plan), device_, epoch);
  next_start_ = {epoch + 1, 0};
}

bool DataLoader::next(Batch& batch) {
  system::check_not_forked();
  require(worker_ != nullptr, "DataLoader", "next() was called before start()");
  return worker_->next(batch);
}

DataPosition DataLoader::position() const noexcept {
  if (worker_ == nullptr) return next_start_;
  const DataPosition at = worker_->position();
  return at.batch < batches() ? at : next_start_;
}

NamedTensors DataLoader::state_dict() const {
  const DataPosition at = position();
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
  const DataPosition before = std::exchange(next_start_, at);
  std::unique_ptr<Worker> running = std::move(worker_);
  try {
    for (const auto& [name, tensor] : state_dict())
      require(tensor.item<std::int64_t>() == number(name.c_str()), "load_state_dict", "the loader's ", name, " is ",
              tensor.item<std::int64_t>(), ", the state was saved with ", number(name.c_str()));
  } catch (...) {
    next_start_ = before;
    worker_ = std::move(running);
    throw;
  }
}

}  // namespace crisol::io
