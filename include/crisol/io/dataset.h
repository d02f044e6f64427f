// Samples by index: the base of all data sets, and data sets in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/io/image_set.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// Shape and element type of one tensor of a sample. All samples of a data set have the same fields.
struct Field {
  Shape shape;               ///< Sizes, outermost axis first; {} for a single number, such as a class.
  DType dtype = DType::f32;  ///< Any.
};

/// The memory into which a data set writes one sample. A DataLoader gives places in the memory of the batch, so the
/// sample is not copied again.
class CRISOL_API Sample {
 public:
  /// Used by the library: `places` holds the address of each field.
  Sample(const std::vector<Field>& fields, std::byte* const* places, std::uint64_t seed) noexcept
      : fields_(&fields), places_(places), seed_(seed) {}

  /// The fields of the data set.
  const std::vector<Field>& fields() const noexcept { return *fields_; }
  /// The elements of a field, outermost axis first. There are fields()[field].shape.numel() of them. Throws
  /// invalid_argument when there is no such field, or when T is not its element type.
  template <class T>
  T* data(int field) const {
    check(field, dtype_of<T>());
    return reinterpret_cast<T*>(places_[field]);
  }
  /// The address of a field with any element type. Throws invalid_argument when there is no such field.
  std::byte* bytes(int field) const;
  /// Seed for random changes of this sample. It depends only on the loader's seed, the epoch and the sample's index in
  /// the loader's data set. So it does not depend on the number of threads.
  std::uint64_t seed() const noexcept { return seed_; }

 private:
  void check(int field, DType wanted) const;

  const std::vector<Field>* fields_;
  std::byte* const* places_;
  std::uint64_t seed_;
};

/// A fixed number of samples. Each sample holds one tensor or more.
///
///     struct Squares : io::Dataset {
///       std::int64_t size() const override { return 100; }
///       std::vector<io::Field> fields() const override { return {{{1}, DType::f32}, {{}, DType::i64}}; }
///       void read(std::int64_t index, const io::Sample& sample) const override {
///         *sample.data<float>(0) = 0.1f * static_cast<float>(index);
///         *sample.data<std::int64_t>(1) = index % 2;
///       }
///     };
class CRISOL_API Dataset {
 public:
  virtual ~Dataset();
  /// Number of samples.
  virtual std::int64_t size() const = 0;
  /// The tensors of a sample; at least one.
  virtual std::vector<Field> fields() const = 0;
  /// Writes all elements of all fields. 0 <= index < size(). A DataLoader with several threads calls this from all of
  /// them at the same time. An exception reaches the loader's user in the call that asks for this batch.
  virtual void read(std::int64_t index, const Sample& sample) const = 0;
};

/// A data set with shared ownership. It is made from a data set, which it moves or copies, or from a shared_ptr. So the
/// data set lives as long as all its users.
class CRISOL_API SharedDataset {
 public:
  /// Throws invalid_argument for null.
  SharedDataset(std::shared_ptr<const Dataset> dataset);
  /// Moves or copies a data set. Throws invalid_argument if the object's class is derived from D, because a copy as D
  /// would lose the derived part.
  template <class D, class Own = std::decay_t<D>,
            class = std::enable_if_t<std::is_base_of_v<Dataset, Own> && std::is_constructible_v<Own, D&&>>>
  SharedDataset(D&& dataset) : SharedDataset(own<Own>(std::forward<D>(dataset))) {}
  /// Any shared_ptr to a class that is derived from Dataset. Throws invalid_argument for null.
  template <class D, class = std::enable_if_t<std::is_base_of_v<Dataset, D>>>
  SharedDataset(std::shared_ptr<D> dataset) : SharedDataset(std::shared_ptr<const Dataset>(std::move(dataset))) {}

  /// The data set.
  const Dataset& operator*() const noexcept { return *dataset_; }
  /// The data set.
  const Dataset* operator->() const noexcept { return dataset_.get(); }

 private:
  template <class Own, class D>
  static std::shared_ptr<const Dataset> own(D&& dataset) {
    check_class(dataset, typeid(Own));
    return std::make_shared<const Own>(std::forward<D>(dataset));
  }
  static void check_class(const Dataset& dataset, const std::type_info& own);

  std::shared_ptr<const Dataset> dataset_;
};

/// The rows of tensors: sample i holds row i (along axis 0) of each of them. Reads the tensors to host memory when it
/// is made, and shares this memory with its copies.
class CRISOL_API TensorDataset : public Dataset {
 public:
  /// All tensors must have the same size along axis 0. Throws invalid_argument otherwise, and for no tensors.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  /// Number of rows.
  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }
  void read(std::int64_t index, const Sample& sample) const override;

 private:
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> elements_;
};

/// Grey images and their classes. A sample is an image as (1, rows, columns) f32, with the values (pixel / 255 - mean)
/// / deviation, and its class as i64. Copies share the images. Throws invalid_argument if the numbers of images and
/// labels differ, or if the deviation is not positive.
class CRISOL_API ImageDataset : public Dataset {
 public:
  explicit ImageDataset(ImageSet images, float mean = 0, float deviation = 1);
  /// Number of images.
  std::int64_t size() const override { return images_->size(); }
  std::vector<Field> fields() const override;
  void read(std::int64_t index, const Sample& sample) const override;
  /// The images as they were given.
  const ImageSet& images() const noexcept { return *images_; }

 private:
  std::shared_ptr<const ImageSet> images_;
  float scale_, shift_;
};

}  // namespace crisol::io
