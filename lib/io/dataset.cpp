#include "crisol/io/dataset.h"

#include <cstring>

#include "base/text.h"
#include "io/host_sample.h"

namespace crisol::io {

Dataset::~Dataset() = default;

std::byte* Sample::bytes(int field) const {
  require(field >= 0 && field < static_cast<int>(fields().size()), "Sample", "there is no field ", field,
          ": a sample has ", fields().size());
  return places_[field];
}

void Sample::check(int field, DType wanted) const {
  bytes(field);
  const DType dtype = fields()[static_cast<std::size_t>(field)].dtype;
  require(dtype == wanted, "Sample", "field ", field, " holds ", dtype, ", and was asked for as ", wanted);
}

SharedDataset::SharedDataset(std::shared_ptr<const Dataset> dataset) : dataset_(std::move(dataset)) {
  require(dataset_ != nullptr, "SharedDataset", "the data set is null");
}

void SharedDataset::check_class(const Dataset& dataset, const std::type_info& own) {
  require(typeid(dataset) == own, "SharedDataset", "a copy would lose the derived part of a ", typeid(dataset).name(),
          " that is named by its base class ", own.name(), ": give a shared_ptr");
}

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) {
  require(!tensors.empty(), "TensorDataset", "no tensors");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    require(tensor.defined() && tensor.dim() > 0, "TensorDataset", "tensor ", i, " has no axis of samples");
    require(tensor.size(0) == tensors[0].size(0), "TensorDataset", "tensor ", i, " has ", tensor.size(0),
            " rows, tensor 0 has ", tensors[0].size(0));
    Shape row;
    for (int axis = 1; axis < tensor.dim(); ++axis) row.push_back(tensor.size(axis));
    fields_.push_back({row, tensor.dtype()});
    auto bytes =
        std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype()));
    if (!bytes->empty()) tensor.read_bytes(bytes->data());
    elements_.push_back(std::move(bytes));
  }
  size_ = tensors[0].size(0);
}

void TensorDataset::read(std::int64_t index, const Sample& sample) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::size_t bytes = bytes_of(fields_[i]);
    if (bytes > 0)
      std::memcpy(sample.bytes(static_cast<int>(i)), elements_[i]->data() + static_cast<std::size_t>(index) * bytes,
                  bytes);
  }
}

ImageDataset::ImageDataset(ImageSet images, float mean, float deviation)
    : images_(std::make_shared<const ImageSet>(std::move(images))),
      scale_(1 / (255 * deviation)),
      shift_(-mean / deviation) {
  const ImageSet& set = *images_;
  require(deviation > 0, "ImageDataset", "the standard deviation ", deviation, " is not positive");
  require(set.rows > 0 && set.columns > 0, "ImageDataset", "images of ", set.rows, " x ", set.columns, " pixels");
  require(static_cast<std::int64_t>(set.pixels.size()) == set.size() * set.rows * set.columns, "ImageDataset",
          set.labels.size(), " labels for ", set.pixels.size(), " pixels in images of ", set.rows, " x ", set.columns);
}

std::vector<Field> ImageDataset::fields() const {
  return {{{1, images_->rows, images_->columns}, DType::f32}, {{}, DType::i64}};
}

void ImageDataset::read(std::int64_t index, const Sample& sample) const {
  const std::int64_t count = images_->rows * images_->columns;
  const std::uint8_t* pixels = images_->pixels.data() + index * count;
  float* input = sample.data<float>(0);
  for (std::int64_t i = 0; i < count; ++i) input[i] = static_cast<float>(pixels[i]) * scale_ + shift_;
  *sample.data<std::int64_t>(1) = images_->labels[static_cast<std::size_t>(index)];
}

}  // namespace crisol::io
