#include "crisol/io/data_loader.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "crisol/io/dataset_views.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using io::Batch;
using io::DataLoader;

namespace {

// Sample i has the input (i, -i) and the class i.
class Numbers : public io::Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t broken = -1) : size_(size), broken_(broken) {}
  std::int64_t size() const override { return size_; }
  std::vector<io::Field> fields() const override { return {{{2}, DType::f32}, {{}, DType::i64}}; }
  void read(std::int64_t index, const io::Sample& sample) const override {
    if (index == broken_) throw std::runtime_error("sample is broken");
    sample.data<float>(0)[0] = static_cast<float>(index);
    sample.data<float>(0)[1] = static_cast<float>(-index);
    *sample.data<std::int64_t>(1) = index;
  }

 private:
  std::int64_t size_, broken_;
};

std::vector<std::int64_t> epoch_of(DataLoader& loader, std::int64_t epoch) {
  std::vector<std::int64_t> classes;
  loader.start(epoch);
  for (Batch batch; loader.next(batch);) {
    const std::vector<std::int64_t> target = batch.target.to_vector<std::int64_t>();
    const std::vector<float> input = batch.input.to_vector<float>();
    for (std::size_t i = 0; i < target.size(); ++i) {
      CHECK(input[2 * i] == static_cast<float>(target[i]));
      CHECK(input[2 * i + 1] == static_cast<float>(-target[i]));
    }
    classes.insert(classes.end(), target.begin(), target.end());
  }
  return classes;
}

// The classes of one epoch by range-for.
std::vector<std::int64_t> loop(DataLoader& loader) {
  std::vector<std::int64_t> classes;
  for (const Batch& batch : loader) {
    const std::vector<std::int64_t> target = batch.target.to_vector<std::int64_t>();
    CHECK(batch.size() == static_cast<std::int64_t>(target.size()));
    classes.insert(classes.end(), target.begin(), target.end());
  }
  return classes;
}

std::vector<std::int64_t> counted(std::int64_t n) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

}  // namespace

TEST_CASE("without shuffling all samples come in order, the last batch smaller") {
  const Numbers numbers(23);
  DataLoader loader(numbers, {5});
  CHECK(loader.batches() == 5);
  CHECK(epoch_of(loader, 0) == counted(23));
  CHECK(epoch_of(loader, 1) == counted(23));
}

TEST_CASE("drop_last leaves the rest out") {
  const Numbers numbers(23);
  DataLoader loader(numbers, {5, false, true});
  CHECK(loader.batches() == 4);
  CHECK(epoch_of(loader, 0) == counted(20));
}

TEST_CASE("shuffling is a permutation that seed and epoch fix") {
  const Numbers numbers(50);
  DataLoader a(numbers, {7, true, false, 3}), b(numbers, {7, true, false, 3}), c(numbers, {7, true, false, 4});
  const std::vector<std::int64_t> first = epoch_of(a, 0);
  CHECK(epoch_of(b, 0) == first);
  CHECK(epoch_of(a, 1) != first);
  CHECK(epoch_of(c, 0) != first);
  CHECK(epoch_of(a, 0) == first);
  std::vector<std::int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == counted(50));
}

TEST_CASE("an epoch can be left and started again; batches stay valid") {
  const Numbers numbers(40);
  DataLoader loader(numbers, {4});
  Batch kept, batch;
  loader.start();
  REQUIRE(loader.next(kept));
  for (int i = 0; i < 3; ++i) REQUIRE(loader.next(batch));
  CHECK(epoch_of(loader, 0) == counted(40));
  CHECK(kept.target.to_vector<std::int64_t>() == counted(4));
  CHECK_FALSE(loader.next(batch));
}

TEST_CASE("edge cases: no samples, one batch, bad use") {
  const Numbers none(0), few(3);
  DataLoader empty_loader(none, {4}), one(few, {100});
  CHECK(epoch_of(empty_loader, 0).empty());
  CHECK(epoch_of(one, 0) == counted(3));
  testing::check_error([&] { DataLoader(few, {0}); }, {"[DataLoader]", "batch_size 0"});
  testing::check_error(
      [&] {
        DataLoader unstarted(few, {1});
        Batch batch;
        unstarted.next(batch);
      },
      {"before start()"});
}

TEST_CASE("what reading a sample throws reaches the caller after the batches before it") {
  const Numbers numbers(20, 13);
  DataLoader loader(numbers, {5});
  loader.start();
  Batch batch;
  CHECK(loader.next(batch));
  CHECK(loader.next(batch));
  CHECK_THROWS_WITH(loader.next(batch), "sample is broken");
}

TEST_CASE("a batch that finds no memory ends the epoch at its turn, until the next start") {
  const Device device;
  const Numbers numbers(20);
  DataLoader loader(numbers, {5});
  loader.start();
  Batch batches[2];
  REQUIRE(loader.next(batches[0]));
  device.synchronize();
  device.release_cached_memory();
  device.set_memory_limit(1);
  // One batch may already be on its way. The next batch reports the error.
  const auto drain = [&] {
    while (loader.next(batches[1])) batches[1] = {}, device.release_cached_memory();
  };
  testing::check_error(drain, {"[memory]", "cannot allocate"}, ErrorCode::out_of_memory);
  device.set_memory_limit(0);
  testing::check_error(drain, {"[memory]", "cannot allocate"}, ErrorCode::out_of_memory);
  CHECK(batches[0].target.to_vector<std::int64_t>() == counted(5));
  CHECK(epoch_of(loader, 0) == counted(20));
}

TEST_CASE("the loader owns its data set") {
  DataLoader temporary(Numbers(9), {.batch_size = 4});
  CHECK(epoch_of(temporary, 0) == counted(9));
  const std::shared_ptr<Numbers> shared = std::make_shared<Numbers>(9);
  {
    DataLoader loader(shared, {.batch_size = 4});
    CHECK(shared.use_count() == 2);
    CHECK(epoch_of(loader, 0) == counted(9));
  }
  CHECK(shared.use_count() == 1);
  // A reference to the abstract base cannot be copied, so it does not compile.
  CHECK_FALSE(std::is_constructible_v<DataLoader, const io::Dataset&>);
  CHECK(std::is_constructible_v<DataLoader, const Numbers&>);
  CHECK(std::is_constructible_v<DataLoader, std::shared_ptr<const io::Dataset>>);
  struct MoreNumbers : Numbers {
    using Numbers::Numbers;
  };
  const MoreNumbers more(3);
  const Numbers& base = more;
  testing::check_error([&] { DataLoader loader(base); }, {"[SharedDataset]", "would lose the derived part"});
  testing::check_error([] { DataLoader loader(std::shared_ptr<const io::Dataset>(nullptr)); }, {"is null"});
}

TEST_CASE("range-for gives one epoch after another") {
  const io::DataLoaderOptions options{.batch_size = 7, .shuffle = true, .seed = 3};
  DataLoader loader(Numbers(50), options), other(Numbers(50), options);
  for (int epoch = 0; epoch < 3; ++epoch) {
    CHECK(loader.position().epoch == epoch);
    CHECK(loop(loader) == epoch_of(other, epoch));
  }
  // A loop that was left early is not gone on with: the next loop is the next epoch.
  for (const Batch& batch : loader) {
    CHECK(batch.size() == 7);
    CHECK(loader.position().epoch == 3);
    CHECK(loader.position().batch == 1);
    break;
  }
  CHECK(loop(loader) == epoch_of(other, 4));
  DataLoader none(Numbers(0));
  CHECK(loop(none).empty());
}

TEST_CASE("each loop has its own position") {
  const auto classes = [](const Batch& batch) { return batch.target.to_vector<std::int64_t>(); };
  DataLoader loader(Numbers(10), {.batch_size = 2});
  std::vector<std::int64_t> outer;
  for (const Batch& batch : loader) {
    for (const std::int64_t value : classes(batch)) outer.push_back(value);
    CHECK(loop(loader) == counted(10));
    CHECK(classes(*loader.begin()) == std::vector<std::int64_t>{0, 1});
  }
  CHECK(outer == counted(10));
  DataLoader shuffled(Numbers(10), {.batch_size = 2, .shuffle = true, .seed = 3});
  DataLoader::Iterator first = shuffled.begin(), second = shuffled.begin();
  std::vector<std::int64_t> orders[2];
  for (; first != shuffled.end(); ++first, ++second) {
    CHECK(first.position().epoch == 0);
    CHECK(second.position().epoch == 1);
    CHECK(first.position().batch == static_cast<std::int64_t>(orders[0].size()) / 2);
    for (const std::int64_t value : classes(*first)) orders[0].push_back(value);
    for (const std::int64_t value : classes(*second)) orders[1].push_back(value);
  }
  CHECK(second == shuffled.end());
  CHECK(orders[0] != orders[1]);
  for (std::vector<std::int64_t>& order : orders) {
    std::sort(order.begin(), order.end());
    CHECK(order == counted(10));
  }
}

TEST_CASE("the loop that gave a batch last has the loader's position") {
  DataLoader loader(Numbers(10), {.batch_size = 2});
  loader.start();
  Batch batch;
  REQUIRE(loader.next(batch));
  DataLoader::Iterator other = loader.begin();
  CHECK(loader.position().epoch == 1);
  REQUIRE(loader.next(batch));
  CHECK(loader.position().epoch == 0);
  CHECK(loader.position().batch == 2);
  const NamedTensors state = loader.state_dict();
  DataLoader resumed(Numbers(10), {.batch_size = 2});
  resumed.load_state_dict(state);
  CHECK(loop(resumed) == std::vector<std::int64_t>{4, 5, 6, 7, 8, 9});
  std::optional<DataLoader> gone(std::in_place, Numbers(6), io::DataLoaderOptions{.batch_size = 2});
  DataLoader::Iterator alone = gone->begin();
  gone.reset();
  CHECK((++alone)->target.to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("seed and epoch determine the batches, whatever the number of threads") {
  // Each sample holds the first number of a generator that is seeded by the sample's seed.
  const auto random = io::map(Numbers(101), [](const io::Sample& sample) {
    *sample.data<std::int64_t>(1) = static_cast<std::int64_t>(sample.seed() >> 1);
  });
  const auto values = [&](int threads, std::uint64_t seed, std::int64_t epoch) {
    DataLoader loader(random, {.batch_size = 4, .shuffle = true, .seed = seed, .threads = threads});
    loader.start(epoch);
    std::vector<std::int64_t> all;
    for (Batch batch; loader.next(batch);) {
      const std::vector<std::int64_t> target = batch.target.to_vector<std::int64_t>();
      all.insert(all.end(), target.begin(), target.end());
    }
    return all;
  };
  const std::vector<std::int64_t> one = values(1, 5, 2);
  CHECK(one.size() == 101);
  for (const int threads : {2, 3, 8, 64}) CHECK(values(threads, 5, 2) == one);
  CHECK(values(3, 5, 3) != one);
  CHECK(values(3, 6, 2) != one);
  std::vector<std::int64_t> sorted = one;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("with several threads, an exception comes after the batches before it, and stays") {
  for (const int threads : {2, 5}) {
    DataLoader loader(Numbers(200, 33), {.batch_size = 5, .threads = threads});
    loader.start();
    Batch batch;
    for (int i = 0; i < 6; ++i) {
      REQUIRE(loader.next(batch));
      CHECK(batch.target.to_vector<std::int64_t>()[0] == 5 * i);
    }
    CHECK_THROWS_WITH(loader.next(batch), "sample is broken");
    CHECK_THROWS_WITH(loader.next(batch), "sample is broken");
    CHECK_THROWS_WITH(loop(loader), "sample is broken");
  }
}

TEST_CASE("a saved position goes on in the middle of an epoch") {
  const io::DataLoaderOptions options{.batch_size = 6, .shuffle = true, .seed = 9, .threads = 2};
  DataLoader whole(Numbers(40), options);
  const std::vector<std::int64_t> second = (loop(whole), loop(whole)), third = loop(whole);
  for (const std::int64_t stop : {0, 3, 6, 7}) {
    CAPTURE(stop);
    DataLoader first(Numbers(40), options);
    first.start(1);
    std::vector<std::int64_t> seen;
    Batch batch;
    for (std::int64_t i = 0; i < stop; ++i) {
      REQUIRE(first.next(batch));
      const std::vector<std::int64_t> target = batch.target.to_vector<std::int64_t>();
      seen.insert(seen.end(), target.begin(), target.end());
    }
    const NamedTensors state = first.state_dict();
    DataLoader resumed(Numbers(40), options);
    loop(resumed);
    resumed.load_state_dict(state);
    CHECK(resumed.position().epoch == (stop == 7 ? 2 : 1));
    CHECK(resumed.position().batch == (stop == 7 ? 0 : stop));
    const std::vector<std::int64_t> rest = loop(resumed);
    seen.insert(seen.end(), rest.begin(), rest.end());
    std::vector<std::int64_t> expected = second;
    if (stop == 7) expected.insert(expected.end(), third.begin(), third.end());
    CHECK(seen == expected);
    if (stop < 7) CHECK(loop(resumed) == third);
  }
}

TEST_CASE("a state of other batches is refused and changes nothing") {
  const io::DataLoaderOptions options{.batch_size = 6, .shuffle = true, .seed = 9};
  DataLoader loader(Numbers(40), options);
  Batch batch;
  loader.start(2);
  REQUIRE(loader.next(batch));
  const auto refuse = [&](const DataLoader& other, const char* name) {
    testing::check_error([&] { loader.load_state_dict(other.state_dict()); }, {"[load_state_dict]", name});
  };
  refuse(DataLoader(Numbers(41), options), "the loader's samples is 40, the state was saved with 41");
  refuse(DataLoader(Numbers(40), {.batch_size = 5, .shuffle = true, .seed = 9}), "batch_size is 6");
  refuse(DataLoader(Numbers(40), {.batch_size = 6, .shuffle = true, .seed = 8}), "seed is 9");
  refuse(DataLoader(Numbers(40), {.batch_size = 6, .seed = 9}), "order is ");
  refuse(DataLoader(Numbers(40), {.batch_size = 6, .shuffle = true, .drop_last = true, .seed = 9}), "drop_last");
  NamedTensors state = loader.state_dict();
  state[1].second = full({}, 7, DType::i64);
  testing::check_error([&] { loader.load_state_dict(state); }, {"batch is 7, an epoch has 7"});
  state.pop_back();
  testing::check_error([&] { loader.load_state_dict(state); }, {"order"});
  CHECK(loader.position().epoch == 2);
  CHECK(loader.position().batch == 1);
  REQUIRE(loader.next(batch));
  CHECK(loader.position().batch == 2);
}

TEST_CASE("a sampler of one's own chooses the samples") {
  class Every : public io::Sampler {
   public:
    explicit Every(std::vector<std::int64_t> order, std::int64_t size) : order_(std::move(order)), size_(size) {}
    std::int64_t size() const override { return size_; }
    std::vector<std::int64_t> order(std::int64_t) const override { return order_; }

   private:
    std::vector<std::int64_t> order_;
    std::int64_t size_;
  };
  const auto loader = [](std::vector<std::int64_t> order, std::int64_t size, bool shuffle = false) {
    return std::make_unique<DataLoader>(
        Numbers(10),
        io::DataLoaderOptions{.batch_size = 2, .shuffle = shuffle, .sampler = std::make_shared<Every>(order, size)});
  };
  const auto chosen = loader({8, 2, 2, 0, 9}, 5);
  CHECK(chosen->batches() == 3);
  CHECK(loop(*chosen) == std::vector<std::int64_t>{8, 2, 2, 0, 9});
  testing::check_error([&] { loader({1, 10}, 2)->start(); }, {"[DataLoader]", "index 10 in a data set of 10"});
  testing::check_error([&] { loader({1, 2}, 3)->start(); }, {"the sampler's size is 3, but epoch 0 has 2"});
  testing::check_error([&] { loader({1}, 1, true); }, {"shuffle and a sampler"});
}

TEST_CASE("a bad loader, epoch or batch is refused") {
  testing::check_error([] { DataLoader loader(Numbers(3), {.threads = 0}); }, {"[DataLoader]", "threads 0"});
  DataLoader loader(Numbers(3), {.batch_size = 2});
  testing::check_error([&] { loader.start(-1); }, {"epoch -1"});
  testing::check_error([&] { loader.start(0, 3); }, {"batch 3 is not in [0, 2]"});
  CHECK_NOTHROW(loader.start(0, 2));
}
