// Data sets made from other data sets: parts, and samples that a function changes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/dataset.h"

namespace crisol::io {

/// Chosen samples of a data set, in the given order. An index may appear several times.
class CRISOL_API Subset : public Dataset {
 public:
  /// Throws invalid_argument for an index that is not in [0, dataset.size()).
  Subset(SharedDataset dataset, std::vector<std::int64_t> indices);
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_->size()); }
  std::vector<Field> fields() const override { return dataset_->fields(); }
  void read(std::int64_t index, const Sample& sample) const override;
  /// The samples' positions in the data set.
  const std::vector<std::int64_t>& indices() const noexcept { return *indices_; }

 private:
  SharedDataset dataset_;
  std::shared_ptr<const std::vector<std::int64_t>> indices_;
};

/// Cuts a data set into parts that follow one another. Throws invalid_argument for a negative length, or when the
/// lengths do not add up to the size.
CRISOL_API std::vector<Subset> split(const SharedDataset& dataset, const std::vector<std::int64_t>& lengths);

/// Like split, but the samples are shuffled first. The seed determines the parts, on every machine.
CRISOL_API std::vector<Subset> random_split(const SharedDataset& dataset, const std::vector<std::int64_t>& lengths,
                                            std::uint64_t seed = 0);

/// Changes a sample in place. The fields stay as they are.
using SampleChange = std::function<void(const Sample& sample)>;
/// Makes a sample (`to`) from a sample of the data set (`from`).
using SampleFunction = std::function<void(const Sample& from, const Sample& to)>;

/// The samples of a data set after a function. Like Dataset::read, the function may be called from several threads at
/// the same time.
class CRISOL_API MappedDataset : public Dataset {
 public:
  /// Throws invalid_argument for an empty function.
  MappedDataset(SharedDataset dataset, std::vector<Field> fields, SampleFunction function);
  MappedDataset(SharedDataset dataset, SampleChange change);
  std::int64_t size() const override { return dataset_->size(); }
  std::vector<Field> fields() const override { return fields_; }
  void read(std::int64_t index, const Sample& sample) const override;

 private:
  SharedDataset dataset_;
  std::vector<Field> source_fields_, fields_;
  SampleFunction function_;
  SampleChange change_;
};

/// Changes each sample in place when it is read: normalisation, augmentation. Random changes take their random numbers
/// from sample.seed().
inline MappedDataset map(SharedDataset dataset, SampleChange change) {
  return MappedDataset(std::move(dataset), std::move(change));
}
/// Makes samples with other fields.
inline MappedDataset map(SharedDataset dataset, std::vector<Field> fields, SampleFunction function) {
  return MappedDataset(std::move(dataset), std::move(fields), std::move(function));
}

}  // namespace crisol::io
