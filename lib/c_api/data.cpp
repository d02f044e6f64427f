// Data sets and loaders for C.
#include "c_api/handles.h"
#include "crisol/io/data_loader.h"
#include "crisol/io/dataset.h"
#include "crisol/io/dataset_views.h"
#include "crisol/io/sharded_sampler.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_dataset {
  io::SharedDataset value;
};

struct crisol_data_loader {
  io::DataLoader value;
};

namespace {

/// Samples that a function of the caller gives.
class FunctionDataset : public io::Dataset {
 public:
  FunctionDataset(std::int64_t size, std::vector<io::Field> fields, crisol_read_function function,
                  std::shared_ptr<void> data)
      : size_(size), fields_(std::move(fields)), read_(function), data_(std::move(data)) {}
  std::int64_t size() const override { return size_; }
  std::vector<io::Field> fields() const override { return fields_; }
  void read(std::int64_t index, const io::Sample& sample) const override {
    std::vector<void*> places;
    for (std::size_t i = 0; i < fields_.size(); ++i) places.push_back(sample.bytes(static_cast<int>(i)));
    const int failed = read_(data_.get(), index, sample.seed(), places.data());
    require(failed == 0, "dataset", "reading sample ", index, " failed with the result ", failed);
  }

 private:
  std::int64_t size_;
  std::vector<io::Field> fields_;
  crisol_read_function read_;
  std::shared_ptr<void> data_;
};

io::DataLoaderOptions loader_options_of(const crisol_data_loader_options* options) {
  const crisol_data_loader_options given =
      options == nullptr ? crisol_data_loader_options CRISOL_DATA_LOADER_OPTIONS : *options;
  return {.batch_size = given.batch_size,
          .shuffle = given.shuffle != 0,
          .drop_last = given.drop_last != 0,
          .seed = given.seed,
          .threads = given.threads};
}

const io::SharedDataset& dataset_of(const crisol_dataset* dataset, const char* op) {
  return need(dataset, op, "dataset").value;
}

template <class Split>
crisol_status give_parts(crisol_dataset** results, const char* op, const Split& split) noexcept {
  return guarded([&] {
    need(results, op, "results");
    std::vector<std::unique_ptr<crisol_dataset>> made;
    for (io::Subset& part : split()) made.emplace_back(new crisol_dataset{io::SharedDataset(std::move(part))});
    for (std::size_t i = 0; i < made.size(); ++i) results[i] = made[i].release();
  });
}

}  // namespace

crisol_status crisol_dataset_create(int64_t size, int field_count, const crisol_field* fields,
                                    crisol_read_function read, void* user_data, void (*release)(void* user_data),
                                    crisol_dataset** result) {
  constexpr const char* op = "dataset_create";
  return guarded([&] {
    std::shared_ptr<void> data = owned(user_data, release);
    crisol_dataset*& place = need(result, op, "result");
    need(read, op, "read");
    require(size >= 0, op, "size ", size, " is negative");
    require(field_count > 0 && fields != nullptr, op, field_count, " fields at ",
            fields == nullptr ? "null" : "an address");
    std::vector<io::Field> all;
    for (int i = 0; i < field_count; ++i)
      all.push_back({shape_of(fields[i].sizes, fields[i].rank, op, "sizes"), dtype_of(fields[i].dtype, op)});
    place = new crisol_dataset{
        io::SharedDataset(std::make_shared<FunctionDataset>(size, std::move(all), read, std::move(data)))};
  });
}

crisol_status crisol_dataset_from_tensors(int count, const crisol_tensor* const* tensors, crisol_dataset** result) {
  constexpr const char* op = "dataset_from_tensors";
  return give(result, op,
              [&] { return io::SharedDataset(io::TensorDataset(tensors_of(tensors, count, op, "tensors"))); });
}

crisol_status crisol_dataset_subset(const crisol_dataset* dataset, int64_t count, const int64_t* indices,
                                    crisol_dataset** result) {
  constexpr const char* op = "dataset_subset";
  return give(result, op, [&] {
    return io::SharedDataset(io::Subset(dataset_of(dataset, op), numbers_of(indices, count, op, "indices")));
  });
}

crisol_status crisol_dataset_split(const crisol_dataset* dataset, int count, const int64_t* lengths,
                                   crisol_dataset** results) {
  constexpr const char* op = "dataset_split";
  return give_parts(results, op,
                    [&] { return io::split(dataset_of(dataset, op), numbers_of(lengths, count, op, "lengths")); });
}

crisol_status crisol_dataset_random_split(const crisol_dataset* dataset, int count, const int64_t* lengths,
                                          uint64_t seed, crisol_dataset** results) {
  constexpr const char* op = "dataset_random_split";
  return give_parts(results, op, [&] {
    return io::random_split(dataset_of(dataset, op), numbers_of(lengths, count, op, "lengths"), seed);
  });
}

void crisol_dataset_destroy(crisol_dataset* dataset) { delete dataset; }

crisol_status crisol_dataset_size(const crisol_dataset* dataset, int64_t* samples) {
  constexpr const char* op = "dataset_size";
  return guarded([&] { need(samples, op, "samples") = dataset_of(dataset, op)->size(); });
}

crisol_status crisol_dataset_field_count(const crisol_dataset* dataset, int* fields) {
  constexpr const char* op = "dataset_field_count";
  return guarded([&] { need(fields, op, "fields") = static_cast<int>(dataset_of(dataset, op)->fields().size()); });
}

crisol_status crisol_dataset_field(const crisol_dataset* dataset, int index, crisol_field* field) {
  constexpr const char* op = "dataset_field";
  return guarded([&] {
    const std::vector<io::Field> fields = dataset_of(dataset, op)->fields();
    require(index >= 0 && static_cast<std::size_t>(index) < fields.size(), op, "field ", index, " of ", fields.size());
    const auto& [shape, dtype] = fields[static_cast<std::size_t>(index)];
    crisol_field found{static_cast<crisol_dtype>(dtype), shape.rank(), {}};
    for (int axis = 0; axis < shape.rank(); ++axis) found.sizes[axis] = shape[axis];
    need(field, op, "field") = found;
  });
}

crisol_status crisol_data_loader_create(const crisol_dataset* dataset, const crisol_data_loader_options* options,
                                        crisol_device device, crisol_data_loader** result) {
  constexpr const char* op = "data_loader_create";
  return guarded([&] {
    crisol_data_loader*& place = need(result, op, "result");
    place = new crisol_data_loader{
        io::DataLoader(dataset_of(dataset, op), loader_options_of(options), device_of(device, op))};
  });
}

crisol_status crisol_data_loader_create_sharded(const crisol_dataset* dataset,
                                                const crisol_data_loader_options* options, int32_t rank, int32_t world,
                                                crisol_device device, crisol_data_loader** result) {
  constexpr const char* op = "data_loader_create_sharded";
  return guarded([&] {
    crisol_data_loader*& place = need(result, op, "result");
    io::DataLoaderOptions all = loader_options_of(options);
    require(!all.drop_last, op, "drop_last must be 0");
    const std::int64_t count = dataset_of(dataset, op)->size();
    std::shared_ptr<const io::Sampler> order = std::make_shared<io::SequentialSampler>(count);
    if (all.shuffle) order = std::make_shared<io::RandomSampler>(count, all.seed);
    const auto own = std::make_shared<io::ShardedSampler>(order, all.batch_size, rank, world);
    all.shuffle = false;
    all.batch_size = own->local_batch_size();
    all.sampler = own;
    place = new crisol_data_loader{io::DataLoader(dataset_of(dataset, op), all, device_of(device, op))};
  });
}

void crisol_data_loader_destroy(crisol_data_loader* loader) { delete loader; }

crisol_status crisol_data_loader_batches(const crisol_data_loader* loader, int64_t* batches) {
  constexpr const char* op = "data_loader_batches";
  return guarded([&] { need(batches, op, "batches") = need(loader, op, "loader").value.batches(); });
}

crisol_status crisol_data_loader_start(crisol_data_loader* loader, int64_t epoch, int64_t batch) {
  return guarded([&] { need(loader, "data_loader_start", "loader").value.start(epoch, batch); });
}

crisol_status crisol_data_loader_next(crisol_data_loader* loader, int count, crisol_tensor** tensors, int* more) {
  constexpr const char* op = "data_loader_next";
  return guarded([&] {
    io::DataLoader& own = need(loader, op, "loader").value;
    const std::size_t fields = own.dataset().fields().size();
    require(count >= 0 && static_cast<std::size_t>(count) == fields, op, "places for ", count,
            " tensors, the samples have ", fields, " fields");
    need(tensors, op, "tensors");
    int& found = need(more, op, "more");
    io::Batch batch;
    const bool has = own.next(batch);
    std::vector<std::unique_ptr<crisol_tensor>> made;
    for (std::size_t i = 0; has && i < fields; ++i) made.emplace_back(new crisol_tensor{batch.tensors[i]});
    for (std::size_t i = 0; i < made.size(); ++i) tensors[i] = made[i].release();
    found = has ? 1 : 0;
  });
}

crisol_status crisol_data_loader_position(const crisol_data_loader* loader, int64_t* epoch, int64_t* batch) {
  constexpr const char* op = "data_loader_position";
  return guarded([&] {
    const io::DataPosition at = need(loader, op, "loader").value.position();
    if (epoch != nullptr) *epoch = at.epoch;
    if (batch != nullptr) *batch = at.batch;
  });
}

crisol_status crisol_data_loader_state_dict(const crisol_data_loader* loader, crisol_named_tensors** result) {
  constexpr const char* op = "data_loader_state_dict";
  return give(result, op, [&] { return need(loader, op, "loader").value.state_dict(); });
}

crisol_status crisol_data_loader_load_state_dict(crisol_data_loader* loader, const crisol_named_tensors* state) {
  constexpr const char* op = "data_loader_load_state_dict";
  return guarded([&] { need(loader, op, "loader").value.load_state_dict(state_of(state, op)); });
}
