#include "crisol/io/dataset_views.h"

#include "base/text.h"
#include "io/host_sample.h"
#include "io/shuffle.h"

namespace crisol::io {

namespace {

std::vector<Subset> parts_of(const char* op, const SharedDataset& dataset, const std::vector<std::int64_t>& lengths,
                             const std::vector<std::int64_t>& order) {
  std::int64_t left = dataset->size();
  for (const std::int64_t length : lengths) {
    require(length >= 0 && length <= left, op, "a part of ", length, " samples, with ", left, " of ", dataset->size(),
            " left");
    left -= length;
  }
  require(left == 0, op, "the lengths leave ", left, " of ", dataset->size(), " samples out");
  std::vector<Subset> parts;
  auto first = order.begin();
  for (const std::int64_t length : lengths) {
    parts.emplace_back(dataset, std::vector<std::int64_t>(first, first + length));
    first += length;
  }
  return parts;
}

}  // namespace

Subset::Subset(SharedDataset dataset, std::vector<std::int64_t> indices)
    : dataset_(std::move(dataset)), indices_(std::make_shared<const std::vector<std::int64_t>>(std::move(indices))) {
  for (const std::int64_t index : *indices_)
    require(index >= 0 && index < dataset_->size(), "Subset", "index ", index, " is not in [0, ", dataset_->size(),
            ")");
}

void Subset::read(std::int64_t index, const Sample& sample) const {
  dataset_->read((*indices_)[static_cast<std::size_t>(index)], sample);
}

std::vector<Subset> split(const SharedDataset& dataset, const std::vector<std::int64_t>& lengths) {
  return parts_of("split", dataset, lengths, in_order(dataset->size()));
}

std::vector<Subset> random_split(const SharedDataset& dataset, const std::vector<std::int64_t>& lengths,
                                 std::uint64_t seed) {
  return parts_of("random_split", dataset, lengths, shuffled(dataset->size(), seed));
}

MappedDataset::MappedDataset(SharedDataset dataset, std::vector<Field> fields, SampleFunction function)
    : dataset_(std::move(dataset)),
      source_fields_(dataset_->fields()),
      fields_(std::move(fields)),
      function_(std::move(function)) {
  require(function_ != nullptr, "map", "the function is empty");
}

MappedDataset::MappedDataset(SharedDataset dataset, SampleChange change)
    : dataset_(std::move(dataset)), fields_(dataset_->fields()), change_(std::move(change)) {
  require(change_ != nullptr, "map", "the function is empty");
}

void MappedDataset::read(std::int64_t index, const Sample& sample) const {
  if (change_ != nullptr) {
    dataset_->read(index, sample);
    change_(sample);
    return;
  }
  const HostSample source(source_fields_, sample.seed());
  dataset_->read(index, source.sample());
  function_(source.sample(), sample);
}

}  // namespace crisol::io
