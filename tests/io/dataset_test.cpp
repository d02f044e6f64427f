#include "crisol/io/dataset.h"

#include <algorithm>
#include <numeric>

#include "crisol/io/data_loader.h"
#include "crisol/io/dataset_views.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;

namespace {

// All batches of one pass, as the values of one field.
template <class T>
std::vector<T> field_of(const io::SharedDataset& dataset, std::size_t field, std::int64_t batch_size = 3) {
  io::DataLoader loader(dataset, {.batch_size = batch_size, .threads = 2});
  std::vector<T> all;
  for (const io::Batch& batch : loader) {
    const std::vector<T> values = batch.tensors.at(field).to_vector<T>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

io::TensorDataset numbered(std::int64_t count) {
  return io::TensorDataset({arange(0, static_cast<double>(count), 1, DType::i64)});
}

}  // namespace

TEST_CASE("TensorDataset gives rows of any number of tensors of any type") {
  const Tensor x = arange(0, 42).reshape({7, 3, 2}).transpose(1, 2);  // Not contiguous.
  const std::vector<DType> dtypes{DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};
  std::vector<Tensor> tensors{x};
  for (const DType dtype : dtypes) tensors.push_back(arange(0, 7).to(dtype));
  const io::TensorDataset dataset(tensors);
  CHECK(dataset.size() == 7);
  REQUIRE(dataset.fields().size() == 7);
  CHECK(dataset.fields()[0].shape == Shape{2, 3});
  CHECK(dataset.fields()[1].shape == Shape{});
  io::DataLoader loader(dataset, {.batch_size = 5});
  std::int64_t first = 0;
  for (const io::Batch& batch : loader) {
    REQUIRE(batch.tensors.size() == 7);
    CHECK(batch.input.impl() == batch.tensors[0].impl());
    CHECK(batch.target.impl() == batch.tensors[1].impl());
    for (std::size_t i = 0; i < 7; ++i) {
      const Tensor& tensor = batch.tensors[i];
      const Tensor expected = tensors[i].narrow(0, first, batch.size());
      CHECK(tensor.shape() == expected.shape());
      CHECK(tensor.dtype() == expected.dtype());
      CHECK(tensor.to(DType::f32).to_vector<float>() == expected.to(DType::f32).to_vector<float>());
    }
    first += batch.size();
  }
  CHECK(first == 7);
  testing::check_error([] { io::TensorDataset none(std::vector<Tensor>{}); }, {"[TensorDataset]", "no tensors"});
  testing::check_error(
      [] {
        io::TensorDataset({ones({3, 2}), ones({2, 3})});
      },
      {"tensor 1 has 2 rows, tensor 0 has 3"});
  testing::check_error([] { io::TensorDataset({ones({})}); }, {"tensor 0 has no axis of samples"});
}

TEST_CASE("samples with one field have no target") {
  io::DataLoader loader(numbered(3));
  for (const io::Batch& batch : loader) {
    CHECK(batch.input.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
    CHECK_FALSE(batch.target.defined());
  }
}

TEST_CASE("a subset reads the chosen samples") {
  CHECK(field_of<std::int64_t>(io::Subset(numbered(9), {8, 0, 0, 3}), 0) == std::vector<std::int64_t>{8, 0, 0, 3});
  CHECK(io::Subset(numbered(9), {}).size() == 0);
  testing::check_error([] { io::Subset(numbered(9), {9}); }, {"[Subset]", "index 9 is not in [0, 9)"});
  testing::check_error([] { io::Subset(numbered(9), {-1}); }, {"index -1"});
}

TEST_CASE("split cuts in order, random_split shuffles by its seed") {
  const io::SharedDataset dataset = numbered(10);
  const std::vector<io::Subset> parts = io::split(dataset, {7, 0, 3});
  REQUIRE(parts.size() == 3);
  CHECK(field_of<std::int64_t>(parts[0], 0) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(parts[1].size() == 0);
  CHECK(field_of<std::int64_t>(parts[2], 0) == std::vector<std::int64_t>{7, 8, 9});
  const std::vector<io::Subset> random = io::random_split(dataset, {7, 3}, 4);
  std::vector<std::int64_t> all = random[0].indices();
  CHECK(io::random_split(dataset, {7, 3}, 4)[0].indices() == all);
  CHECK(io::random_split(dataset, {7, 3}, 5)[0].indices() != all);
  all.insert(all.end(), random[1].indices().begin(), random[1].indices().end());
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
  testing::check_error([&] { io::split(dataset, {7, 2}); }, {"[split]", "leave 1 of 10 samples out"});
  testing::check_error([&] { io::random_split(dataset, {7, 4}); }, {"[random_split]", "4 samples, with 3 of 10 left"});
  testing::check_error([&] { io::split(dataset, {-1, 11}); }, {"a part of -1 samples"});
}

TEST_CASE("map changes samples in place, or makes samples with other fields") {
  const auto doubled = io::map(numbered(5), [](const io::Sample& sample) { *sample.data<std::int64_t>(0) *= 2; });
  CHECK(field_of<std::int64_t>(doubled, 0) == std::vector<std::int64_t>{0, 2, 4, 6, 8});
  const auto pairs =
      io::map(doubled, {{{2}, DType::f32}, {{}, DType::u8}}, [](const io::Sample& from, const io::Sample& to) {
        const std::int64_t value = *from.data<std::int64_t>(0);
        to.data<float>(0)[0] = static_cast<float>(value);
        to.data<float>(0)[1] = 0.5f;
        *to.data<std::uint8_t>(1) = value > 3;
      });
  CHECK(field_of<float>(pairs, 0) == std::vector<float>{0, 0.5f, 2, 0.5f, 4, 0.5f, 6, 0.5f, 8, 0.5f});
  CHECK(field_of<std::uint8_t>(pairs, 1) == std::vector<std::uint8_t>{0, 0, 1, 1, 1});
  testing::check_error([] { io::map(numbered(5), io::SampleChange()); }, {"[map]", "the function is empty"});
  testing::check_error([] { io::map(numbered(5), {}, io::SampleFunction()); }, {"[map]", "the function is empty"});
}

TEST_CASE("a field that is read by another type or number is refused") {
  const auto wrong_type = io::map(numbered(2), [](const io::Sample& sample) { *sample.data<float>(0) = 1; });
  testing::check_error([&] { field_of<std::int64_t>(wrong_type, 0); },
                       {"[Sample]", "field 0 holds i64, and was asked for as f32"});
  const auto no_field = io::map(numbered(2), [](const io::Sample& sample) { sample.data<float>(1); });
  testing::check_error([&] { field_of<std::int64_t>(no_field, 0); }, {"there is no field 1: a sample has 1"});
  const auto no_fields = io::map(numbered(2), {}, [](const io::Sample&, const io::Sample&) {});
  testing::check_error([&] { io::DataLoader loader(no_fields); }, {"[DataLoader]", "no fields"});
}

TEST_CASE("images become normalised floats with their labels") {
  io::ImageSet images;
  images.rows = 1;
  images.columns = 2;
  images.pixels = {0, 255, 51, 102};
  images.labels = {7, 3};
  const io::ImageDataset dataset(images, 0.5f, 0.25f);
  CHECK(dataset.fields()[0].shape == Shape{1, 1, 2});
  const std::vector<float> pixels = field_of<float>(dataset, 0);
  const std::vector<double> expected{-2, 2, (0.2 - 0.5) / 0.25, (0.4 - 0.5) / 0.25};
  for (std::size_t i = 0; i < 4; ++i) CHECK(pixels[i] == doctest::Approx(expected[i]));
  CHECK(field_of<std::int64_t>(dataset, 1) == std::vector<std::int64_t>{7, 3});
  images.labels.push_back(1);
  testing::check_error([&] { io::ImageDataset wrong(images); }, {"[ImageDataset]", "3 labels"});
}
