// The C interface: data sets and loaders.
#include <algorithm>

#include "c_api/handle.h"

using namespace crisol::testing::c_api;

namespace {

struct Loader {
  crisol_data_loader* value = nullptr;
  Loader(const crisol_dataset* dataset, const crisol_data_loader_options* options) {
    OK(crisol_data_loader_create(dataset, options, here, &value));
  }
  ~Loader() { crisol_data_loader_destroy(value); }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The first field of the next batch; empty after the last.
  Floats next() {
    crisol_tensor* fields[2] = {};
    int more = -1;
    OK(crisol_data_loader_next(value, 2, fields, &more));
    if (more == 0) return {};
    const Floats values = values_of(fields[0]);
    for (crisol_tensor* field : fields) crisol_tensor_destroy(field);
    return values;
  }
};

crisol_dataset* five_rows() {
  Handle x({0, 1, 2, 3, 4}, {5, 1}), y(Longs{0, 1, 0, 1, 0});
  const crisol_tensor* tensors[] = {x.get(), y.get()};
  crisol_dataset* dataset = nullptr;
  OK(crisol_dataset_from_tensors(2, tensors, &dataset));
  return dataset;
}

struct Calls {
  int released = 0;
  std::int64_t fails_at = -1;
};

int reads(void* data, std::int64_t index, std::uint64_t, void* const* fields) {
  if (index == static_cast<Calls*>(data)->fails_at) return 4;
  *static_cast<float*>(fields[0]) = static_cast<float>(10 * index);
  *static_cast<std::int64_t*>(fields[1]) = index % 2;
  return 0;
}

void release(void* data) { ++static_cast<Calls*>(data)->released; }

}  // namespace

TEST_CASE("C: a loader gives the rows of tensors in batches") {
  crisol_dataset* dataset = five_rows();
  std::int64_t samples = 0;
  OK(crisol_dataset_size(dataset, &samples));
  CHECK(samples == 5);
  int fields = 0;
  OK(crisol_dataset_field_count(dataset, &fields));
  CHECK(fields == 2);
  crisol_field field{};
  OK(crisol_dataset_field(dataset, 0, &field));
  CHECK(field.dtype == CRISOL_F32);
  CHECK(field.rank == 1);
  CHECK(field.sizes[0] == 1);
  OK(crisol_dataset_field(dataset, 1, &field));
  CHECK(field.dtype == CRISOL_I64);
  CHECK(field.rank == 0);
  refused(crisol_dataset_field(dataset, 2, &field), CRISOL_INVALID_ARGUMENT, {"field 2 of 2"});

  crisol_data_loader_options options = CRISOL_DATA_LOADER_OPTIONS;
  CHECK(options.batch_size == 64);
  options.batch_size = 2;
  Loader loader(dataset, &options);
  crisol_dataset_destroy(dataset);  // The loader keeps the data that it needs.
  std::int64_t batches = 0;
  OK(crisol_data_loader_batches(loader.value, &batches));
  CHECK(batches == 3);
  int more = 0;
  crisol_tensor* places[2] = {};
  refused(crisol_data_loader_next(loader.value, 2, places, &more), CRISOL_INVALID_ARGUMENT, {"before start()"});
  OK(crisol_data_loader_start(loader.value, 0, 1));
  refused(crisol_data_loader_next(loader.value, 1, places, &more), CRISOL_INVALID_ARGUMENT,
          {"places for 1 tensors, the samples have 2 fields"});
  CHECK(loader.next() == Floats{2, 3});
  CHECK(loader.next() == Floats{4});
  CHECK(loader.next().empty());
  refused(crisol_data_loader_start(loader.value, 0, 4), CRISOL_INVALID_ARGUMENT, {"batch 4"});
  options.batch_size = 0;
  crisol_data_loader* none = nullptr;
  dataset = five_rows();
  refused(crisol_data_loader_create(dataset, &options, here, &none), CRISOL_INVALID_ARGUMENT, {"batch_size 0"});
  refused(crisol_data_loader_create(nullptr, nullptr, here, &none), CRISOL_INVALID_ARGUMENT, {"dataset is null"});
  crisol_dataset_destroy(dataset);
  CHECK(none == nullptr);
}

TEST_CASE("C: a loader goes on from its state") {
  crisol_dataset* dataset = five_rows();
  crisol_data_loader_options options = CRISOL_DATA_LOADER_OPTIONS;
  options.batch_size = 2;
  options.shuffle = 1;
  options.seed = 3;
  Loader first(dataset, &options), second(dataset, &options);
  options.seed = 4;
  Loader other(dataset, &options);
  crisol_dataset_destroy(dataset);
  OK(crisol_data_loader_start(first.value, 2, 0));
  first.next();
  crisol_named_tensors* state = nullptr;
  OK(crisol_data_loader_state_dict(first.value, &state));
  OK(crisol_data_loader_load_state_dict(second.value, state));
  std::int64_t epoch = 0, batch = 0;
  OK(crisol_data_loader_position(second.value, &epoch, &batch));
  CHECK(epoch == 2);
  CHECK(batch == 1);
  OK(crisol_data_loader_start(second.value, epoch, batch));
  for (int i = 0; i < 2; ++i) CHECK(second.next() == first.next());
  OK(crisol_data_loader_position(second.value, &epoch, nullptr));
  CHECK(epoch == 3);
  refused(crisol_data_loader_load_state_dict(other.value, state), CRISOL_INVALID_ARGUMENT, {"the loader's seed is 4"});
  refused(crisol_data_loader_load_state_dict(other.value, nullptr), CRISOL_INVALID_ARGUMENT, {"state is null"});
  crisol_named_tensors_destroy(state);
}

TEST_CASE("C: the loaders of two processes together read each sample once") {
  crisol_dataset* dataset = five_rows();
  const crisol_data_loader_options options{2, 0, 0, 0, 1};
  Floats all;
  for (int rank = 0; rank < 2; ++rank) {
    crisol_data_loader* loader = nullptr;
    OK(crisol_data_loader_create_sharded(dataset, &options, rank, 2, here, &loader));
    OK(crisol_data_loader_start(loader, 0, 0));
    std::int64_t batches = 0;
    OK(crisol_data_loader_batches(loader, &batches));
    CHECK(batches == 2 + rank);  // The last batch has one sample.
    for (int more = 1; more != 0;) {
      crisol_tensor* fields[2] = {};
      OK(crisol_data_loader_next(loader, 2, fields, &more));
      if (more == 0) break;
      const Floats values = values_of(fields[0]);
      all.insert(all.end(), values.begin(), values.end());
      for (crisol_tensor* field : fields) crisol_tensor_destroy(field);
    }
    crisol_data_loader_destroy(loader);
  }
  CHECK(all == Floats{0, 2, 1, 3, 4});
  crisol_data_loader* loader = nullptr;
  CHECK(crisol_data_loader_create_sharded(dataset, &options, 0, 3, here, &loader) == CRISOL_INVALID_ARGUMENT);
  const crisol_data_loader_options dropping{2, 0, 1, 0, 1};
  CHECK(crisol_data_loader_create_sharded(dataset, &dropping, 0, 2, here, &loader) == CRISOL_INVALID_ARGUMENT);
  CHECK(loader == nullptr);
  crisol_dataset_destroy(dataset);
}

TEST_CASE("C: a function gives samples") {
  Calls calls;
  crisol_field fields[2] = {};
  fields[0] = {CRISOL_F32, 2, {1, 1}};
  fields[1] = {CRISOL_I64, 0, {}};
  crisol_dataset* dataset = nullptr;
  OK(crisol_dataset_create(4, 2, fields, reads, &calls, release, &dataset));
  crisol_data_loader_options options = CRISOL_DATA_LOADER_OPTIONS;
  options.batch_size = 3;
  options.threads = 2;
  {
    Loader loader(dataset, &options);
    OK(crisol_data_loader_start(loader.value, 0, 0));
    CHECK(loader.next() == Floats{0, 10, 20});
    CHECK(loader.next() == Floats{30});
    calls.fails_at = 1;
    OK(crisol_data_loader_start(loader.value, 1, 0));
    crisol_tensor* places[2] = {};
    int more = -1;
    refused(crisol_data_loader_next(loader.value, 2, places, &more), CRISOL_INVALID_ARGUMENT,
            {"[dataset]", "sample 1", "the result 4"});
    CHECK(more == -1);
    crisol_dataset_destroy(dataset);
    CHECK(calls.released == 0);
  }
  CHECK(calls.released == 1);
  refused(crisol_dataset_create(-1, 2, fields, reads, &calls, release, &dataset), CRISOL_INVALID_ARGUMENT, {"size -1"});
  refused(crisol_dataset_create(1, 0, fields, reads, &calls, release, &dataset), CRISOL_INVALID_ARGUMENT, {"0 fields"});
  refused(crisol_dataset_create(1, 2, fields, nullptr, &calls, release, &dataset), CRISOL_INVALID_ARGUMENT,
          {"read is null"});
  fields[0].rank = CRISOL_MAX_RANK + 1;
  refused(crisol_dataset_create(1, 2, fields, reads, &calls, release, &dataset), CRISOL_INVALID_ARGUMENT,
          {"26 numbers"});
  CHECK(calls.released == 5);
}

TEST_CASE("C: parts of a data set") {
  crisol_dataset *dataset = five_rows(), *part = nullptr, *parts[2] = {}, *random[2] = {};
  const std::int64_t indices[] = {4, 0, 4}, lengths[] = {2, 3}, wrong[] = {2, 2};
  OK(crisol_dataset_subset(dataset, 3, indices, &part));
  OK(crisol_dataset_split(dataset, 2, lengths, parts));
  OK(crisol_dataset_random_split(dataset, 2, lengths, 7, random));
  refused(crisol_dataset_split(dataset, 2, wrong, parts), CRISOL_INVALID_ARGUMENT, {"5"});
  refused(crisol_dataset_subset(dataset, 3, nullptr, &part), CRISOL_INVALID_ARGUMENT, {"indices"});
  const auto all = [](const crisol_dataset* of) {
    Loader loader(of, nullptr);
    OK(crisol_data_loader_start(loader.value, 0, 0));
    return loader.next();
  };
  CHECK(all(part) == Floats{4, 0, 4});
  CHECK(all(parts[0]) == Floats{0, 1});
  CHECK(all(parts[1]) == Floats{2, 3, 4});
  Floats both = all(random[0]);
  for (const float value : all(random[1])) both.push_back(value);
  std::sort(both.begin(), both.end());
  CHECK(both == Floats{0, 1, 2, 3, 4});
  for (crisol_dataset* one : {dataset, part, parts[0], parts[1], random[0], random[1]}) crisol_dataset_destroy(one);
}
