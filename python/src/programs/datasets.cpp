// Data sets of the library: tensors, MNIST, folders of pictures, parts, and tables.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "arguments.h"
#include "programs/data.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using io::Dataset;
using Path = std::filesystem::path;
using Shared = std::shared_ptr<Dataset>;
using OptionalDevice = std::optional<Device>;

/// The fields of a sample as tensors. A field of rank 0, such as the class of a picture, becomes a number.
nb::tuple sample_of(const Dataset& dataset, std::int64_t index) {
  if (index < -dataset.size() || index >= dataset.size())
    raise("OutOfRangeError", "sample " + std::to_string(index) + " of " + std::to_string(dataset.size()));
  const std::vector<io::Field> fields = dataset.fields();
  std::vector<std::vector<std::byte>> memory;
  for (const io::Field& field : fields)
    memory.emplace_back(size_of(field.dtype) * static_cast<std::size_t>(field.shape.numel()));
  std::vector<std::byte*> places;
  for (std::vector<std::byte>& bytes : memory) places.push_back(bytes.data());
  unlocked([&] { dataset.read(index < 0 ? index + dataset.size() : index, io::Sample(fields, places.data(), 0)); });
  nb::list parts;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Tensor part = unlocked([&] { return from_bytes(memory[i].data(), fields[i].shape, fields[i].dtype); });
    parts.append(fields[i].shape.rank() == 0 ? nb::cast(part).attr("item")() : nb::cast(part));
  }
  return nb::tuple(parts);
}

template <class D>
nb::class_<D, Dataset> derived(nb::module_& m, const char* name, const char* text) {
  return nb::class_<D, Dataset>(m, name, nb::dynamic_attr(), text);
}

/// The samples of several data sets, one after another.
class Concat : public Dataset {
 public:
  explicit Concat(std::vector<Shared> parts) : parts_(std::move(parts)) {
    for (const Shared& part : parts_) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
    for (const Shared& part : parts_) check(part->fields());
  }
  std::int64_t size() const override { return ends_.back(); }
  std::vector<io::Field> fields() const override { return parts_[0]->fields(); }
  void read(std::int64_t index, const io::Sample& sample) const override {
    const auto part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    parts_[part]->read(part == 0 ? index : index - ends_[part - 1], sample);
  }

 private:
  void check(const std::vector<io::Field>& other) const {
    const std::vector<io::Field> first = fields();
    bool same = first.size() == other.size();
    for (std::size_t i = 0; same && i < first.size(); ++i)
      same = first[i].shape == other[i].shape && first[i].dtype == other[i].dtype;
    if (!same) raise("InvalidArgumentError", "[ConcatDataset] the data sets have samples of different shapes or types");
  }

  std::vector<Shared> parts_;
  std::vector<std::int64_t> ends_;  ///< For each part, the number of the first sample after it.
};

void bind_parts(nb::module_& m) {
  derived<io::Subset>(m, "Subset", "Chosen samples of a data set of the library.")
      .def(
          "__init__",
          [](io::Subset* self, const Shared& dataset, std::vector<std::int64_t> indices) {
            new (self) io::Subset(dataset, std::move(indices));
          },
          "dataset"_a, "indices"_a);
  derived<Concat>(m, "Concat", "The samples of several data sets of the library.")
      .def(nb::init<std::vector<Shared>>(), "datasets"_a);
  m.def(
      "split_indices",
      [](std::int64_t count, const std::vector<std::int64_t>& lengths, std::uint64_t seed) {
        std::vector<std::vector<std::int64_t>> parts;
        for (const io::Subset& part : io::random_split(io::TensorDataset({empty({count, 0})}), lengths, seed))
          parts.push_back(part.indices());
        return parts;
      },
      "count"_a, "lengths"_a, "seed"_a);
  m.def(
      "shuffled",
      [](std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
        return io::RandomSampler(count, seed).order(epoch);
      },
      "count"_a, "seed"_a, "epoch"_a);
}

void bind_images(nb::module_& m) {
  derived<io::ImageDataset>(m, "ImageDataset",
                            "Grey images as (1, rows, columns) float32 with the values (pixel / 255 - mean) / std, "
                            "and their classes as int64.");
  m.def(
      "MNIST",
      [](const Path& root, bool train, float mean, float std) {
        const io::MnistPart part = train ? io::MnistPart::train : io::MnistPart::test;
        return io::ImageDataset(io::load_mnist(existing(root), part), mean, std);
      },
      "root"_a, "train"_a = true, "mean"_a = 0.0F, "std"_a = 1.0F, Unlocked(),
      "A part of MNIST from the folder of its files: 60,000 images for training, or 10,000 for the test.");
  m.def(
      "read_idx",
      [](const Path& images, const Path& labels, float mean, float std) {
        return io::ImageDataset(io::read_idx(existing(images), existing(labels)), mean, std);
      },
      "images"_a, "labels"_a, "mean"_a = 0.0F, "std"_a = 1.0F, Unlocked(), "Images and labels from IDX files.");
  derived<io::ImageFolder>(m, "ImageFolder",
                           "Pictures in one folder for each class, as (channels, height, width) float32 in [0, 1], and "
                           "the class as int64.")
      .def(
          "__init__",
          [](io::ImageFolder* self, const Path& root, std::pair<std::int64_t, std::int64_t> size, std::int64_t channels,
             bool stretch) {
            new (self) io::ImageFolder(existing(root), {size.first, size.second, channels, stretch});
          },
          "root"_a, "size"_a = std::make_pair(224, 224), "channels"_a = 3, "stretch"_a = false)
      .def_prop_ro("classes", &io::ImageFolder::classes, "The names of the classes.")
      .def("path", &io::ImageFolder::path, "index"_a, "The file of a sample.");
  m.def(
      "read_image",
      [](const Path& path, std::int64_t channels, const OptionalDevice& device) {
        const io::Image image = io::read_image(existing(path), channels);
        return from_span(image.pixels.data(), {image.height, image.width, image.channels}, or_default(device));
      },
      "path"_a, "channels"_a = 3, "device"_a = nb::none(), Unlocked(),
      "The pixels of a PNG or JPEG file as uint8 (height, width, channels).");
}

void bind_tables(nb::module_& m) {
  using io::Csv;
  using Names = std::vector<std::string>;
  nb::class_<Csv>(m, "Csv", "A table of text from a CSV file.")
      .def(
          "__init__",
          [](Csv* self, const Path& path, char separator, bool header) {
            new (self) Csv(existing(path), {separator, header});
          },
          "path"_a, "separator"_a = ',', "header"_a = true)
      .def("__len__", &Csv::rows)
      .def_prop_ro("columns", &Csv::columns, "The columns' names in the file's order.")
      .def("text", &Csv::text, "row"_a, "column"_a, "One field.")
      .def(
          "numbers",
          [](const Csv& self, const Names& columns, const OptionalDevice& device) {
            return self.numbers(columns, or_default(device));
          },
          "columns"_a, "device"_a = nb::none(), Unlocked(), "Columns as numbers: float32 (rows, columns).")
      .def(
          "numbers_except",
          [](const Csv& self, const Names& columns, const OptionalDevice& device) {
            return self.numbers_except(columns, or_default(device));
          },
          "columns"_a, "device"_a = nb::none(), Unlocked(), "All other columns as numbers: float32 (rows, columns).")
      .def(
          "classes",
          [](const Csv& self, const std::string& column, const Names& names, const OptionalDevice& device) {
            return self.classes(column, names, or_default(device));
          },
          "column"_a, "names"_a = Names(), "device"_a = nb::none(), Unlocked(),
          "A column as class numbers: int64 (rows). The text names[i] is class i.")
      .def("class_names", &Csv::class_names, "column"_a, "The different texts of a column, sorted.");
}

void bind_samplers(nb::module_& m) {
  using io::Sampler;
  nb::class_<Sampler>(m, "Sampler", "The order in which a DataLoader reads samples: DataLoader(sampler=…).")
      .def("__len__", &Sampler::size)
      .def("order", &Sampler::order, "epoch"_a, "The indices of the samples of an epoch.");
  nb::class_<io::ShardedSampler, Sampler>(m, "ShardedSampler",
                                          "The part of one rank of a run (crisol.distributed) of the order of another "
                                          "sampler. Each batch of batch_size samples is "
                                          "cut into one part for each rank. So all ranks together read each sample "
                                          "once. The loader of a rank takes batches "
                                          "of local_batch_size samples.")
      .def(
          "__init__",
          [](io::ShardedSampler* self, nb::handle order, std::int64_t batch_size, int rank, int world) {
            new (self) io::ShardedSampler(sampler_of(order), batch_size, rank, world);
          },
          "order"_a, "batch_size"_a, "rank"_a, "world"_a)
      .def_prop_ro("local_batch_size", &io::ShardedSampler::local_batch_size,
                   "The samples of this rank in a full batch.")
      .def_prop_ro("batches", &io::ShardedSampler::batches, "The number of batches of an epoch.");
}

}  // namespace

void bind_datasets(nb::module_& m) {
  nb::class_<Dataset>(m, "NativeDataset", nb::dynamic_attr(), "A data set of the library.")
      .def("__len__", &Dataset::size)
      .def("__getitem__", &sample_of);
  derived<io::TensorDataset>(m, "TensorDataset", "The rows of tensors: sample i holds row i of each of them.")
      .def(
          "__init__",
          [](io::TensorDataset* self, const std::vector<Tensor>& tensors) { new (self) io::TensorDataset(tensors); },
          "tensors"_a, Unlocked());
  bind_parts(m);
  bind_images(m);
  bind_tables(m);
  bind_samplers(m);
}

}  // namespace crisol::python
