#include "crisol/io/data_loader.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

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
  Shape input_shape() const override { return {2}; }
  std::int64_t read(std::int64_t index, float* input) const override {
    if (index == broken_) throw std::runtime_error("sample is broken");
    input[0] = static_cast<float>(index);
    input[1] = static_cast<float>(-index);
    return index;
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

TEST_CASE("images become normalised floats with their labels") {
  io::ImageSet images;
  images.rows = 1;
  images.columns = 2;
  images.pixels = {0, 255, 51, 102};
  images.labels = {7, 3};
  const io::ImageDataset dataset(images, 0.5f, 0.25f);
  float input[2];
  CHECK(dataset.read(1, input) == 3);
  CHECK(input[0] == doctest::Approx((0.2 - 0.5) / 0.25));
  CHECK(input[1] == doctest::Approx((0.4 - 0.5) / 0.25));
  images.labels.push_back(1);
  testing::check_error([&] { io::ImageDataset wrong(images); }, {"[ImageDataset]", "3 labels"});
}
