// Data sets of the library: tensors, MNIST, folders of pictures, parts, and tables.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include "arguments.h"
#include "programs/data.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using io::Dataset;
using Path = std::filesystem::path;
using Shared = std::shared_ptr<Dataset>;
using OptionalDevice = std::optional<Device>;

/// The fields of a sample as arrays of NumPy, and numbers for fields of rank 0.
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
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::list parts;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const nb::bytes bytes(memory[i].data(), memory[i].size());
    const nb::object array = numpy.attr("frombuffer")(bytes, name_in_python(fields[i].dtype));
    parts.append(fields[i].shape.rank() == 0 ? array.attr("item")()
                                             : array.attr("reshape")(fields[i].shape).attr("copy")());
  }
  return nb::tuple(parts);
}

template <class D>
nb::class_<D, Dataset> derived(nb::module_& m, const char* name, const char* text) {
  return nb::class_<D, Dataset>(m, name, nb::dynamic_attr(), text);
}

void bind_parts(nb::module_& m) {
  derived<io::Subset>(m, "Subset", "Chosen samples of a data set, in the given order.")
      .def(
          "__init__",
          [](io::Subset* self, nb::handle dataset, std::vector<std::int64_t> indices) {
            new (self) io::Subset(dataset_of(dataset), std::move(indices));
          },
          "dataset"_a, "indices"_a)
      .def_prop_ro("indices", &io::Subset::indices, "The positions of the samples in the data set.");
  m.def(
      "random_split",
      [](nb::handle dataset, const std::vector<std::int64_t>& lengths, std::uint64_t seed) {
        return io::random_split(dataset_of(dataset), lengths, seed);
      },
      "dataset"_a, "lengths"_a, "seed"_a = 0,
      "Cuts a data set into parts of these lengths at random. The seed determines the parts.");
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
  nb::class_<io::SequentialSampler, Sampler>(m, "SequentialSampler", "0, 1, … count-1.")
      .def(nb::init<std::int64_t>(), "count"_a);
  nb::class_<io::RandomSampler, Sampler>(m, "RandomSampler",
                                         "A permutation of 0, 1, … count-1, which seed and epoch determine.")
      .def(nb::init<std::int64_t, std::uint64_t>(), "count"_a, "seed"_a = 0);
  nb::class_<io::ShardedSampler, Sampler>(m, "ShardedSampler",
                                          "The part of one rank of a run (crisol.dist) of the order of another "
                                          "sampler. Each batch of batch_size samples is "
                                          "cut into one part for each rank. So all ranks together read each sample "
                                          "once. The loader of a rank takes batches "
                                          "of local_batch_size samples.")
      .def(nb::init<std::shared_ptr<const Sampler>, std::int64_t, int, int>(), "order"_a, "batch_size"_a, "rank"_a,
           "world"_a)
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
          [](io::TensorDataset* self, const nb::args& tensors) {
            const auto list = nb::cast<std::vector<Tensor>>(tensors);
            unlocked([&] { new (self) io::TensorDataset(list); });
          },
          nb::sig("def __init__(self, *tensors: Tensor) -> None"));
  bind_parts(m);
  bind_images(m);
  bind_tables(m);
  bind_samplers(m);
}

}  // namespace crisol::python
